import type { AudioFrame } from "@vocalhost/audio";
import type { SpeechToText } from "./services.ts";

export interface TranscribeOptions {
  signal: AbortSignal;
}

/** Makes a transcriber from a service that takes whole recordings: it is sent each stretch of speech. */
export function transcribeEach(
  transcribe: (audio: AudioFrame, options: TranscribeOptions) => Promise<string>,
  options: { name?: string; vendor?: string } = {},
): SpeechToText {
  return {
    name: options.name ?? "transcription",
    vendor: options.vendor,
    open({ sampleRateHz, signal }) {
      let pieces: Int16Array[] = [];
      return {
        write: ({ samples }) => void pieces.push(samples.slice()),
        async flush() {
          const samples = joined(pieces);
          pieces = [];
          return samples.length === 0 ? "" : await transcribe({ samples, sampleRateHz }, { signal });
        },
      };
    },
  };
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const samples = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return samples;
}
