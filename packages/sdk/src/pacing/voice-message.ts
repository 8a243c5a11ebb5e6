import { pcmBytes } from "@vocalhost/audio";
import { encodeFrame } from "@vocalhost/protocol/frames"; // avoids loading the schemas, so that the thread starts fast
import { encodeWireAudio } from "./wire-audio.ts";
import type { VoiceSettings } from "./messages.ts";

/** Encodes one chunk of the voice as a WebSocket message. */
export function voiceMessage(chunk: Int16Array, settings: VoiceSettings): Uint8Array | string {
  const { format, wireHz } = settings;
  if (format.kind === "carrier") return format.before + encodeWireAudio(chunk, format.wire) + format.after;
  return encodeFrame({
    kind: "audio",
    id: 0,
    name: "audio",
    audio: pcmBytes(chunk),
    sampleRateHz: wireHz,
    channels: 1,
  });
}
