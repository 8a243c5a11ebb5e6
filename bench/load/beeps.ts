import { createDecoder, createEncoder } from "libopus-wasm";
import { createResampler } from "vocalhost";
import { createOpusDecoder, createOpusEncoder } from "../../packages/sdk/src/media/opus.ts";

/** A beep at every 30th packet; silence between them. */
export const BEEP_EVERY_PACKETS = 30;
const BEEP_PACKETS = 6;
const CYCLES = 10;
const OPUS_HZ = 48_000;
const PACKET_SAMPLES = 960;
const TONE_HZ = 400;
const LOUD = 3_000; // a fifth of the beep, far above what codecs add to silence
const QUIET_PACKETS = 10;

export async function encodeBeeps(): Promise<Uint8Array[]> {
  const encoder = await createEncoder({ sampleRate: OPUS_HZ, channels: 1, bitrate: 32_000 });
  const beep = Int16Array.from({ length: PACKET_SAMPLES * BEEP_PACKETS }, (_, at) =>
    Math.round(15_000 * Math.sin((2 * Math.PI * TONE_HZ * at) / OPUS_HZ)),
  );
  const packets: Uint8Array[] = [];
  for (let at = 0; at < CYCLES * BEEP_EVERY_PACKETS; at += 1) {
    const from = (at % BEEP_EVERY_PACKETS) * PACKET_SAMPLES;
    const frame = new Int16Array(PACKET_SAMPLES);
    frame.set(beep.subarray(from, from + PACKET_SAMPLES));
    packets.push(encoder.encode(frame));
  }
  encoder.free();
  return packets;
}

/** Finds beginnings of beeps in a stream of packets. */
export interface BeepFinder {
  /** Where in the packet, in ms, a beep begins; undefined when none does. */
  find(packet: Uint8Array): number | undefined;
}

export async function createBeepFinder(): Promise<BeepFinder> {
  const decoder = await createDecoder({ sampleRate: OPUS_HZ, channels: 1 });
  let quietPackets = 0;
  return {
    find(packet) {
      const at = decoder.decode(packet).findIndex((sample) => Math.abs(sample) > LOUD);
      const wasQuiet = quietPackets >= QUIET_PACKETS;
      quietPackets = at < 0 ? quietPackets + 1 : 0;
      return wasQuiet && at >= 0 ? (at * 1000) / OPUS_HZ : undefined;
    },
  };
}

/**
 * How late a beep comes out of decoding, resampling and encoding alone, as an echo bot does them:
 * look-ahead of two encoders and half a filter, which no server can avoid.
 */
export async function codecDelayMs(packets: Uint8Array[]): Promise<number> {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  const encoder = await createOpusEncoder({ sampleRateHz: 24_000 });
  const resampler = createResampler({ fromHz: 16_000, toHz: 24_000 });
  const finder = await createBeepFinder();
  for (const [index, packet] of packets.entries()) {
    const at = finder.find(encoder.encode(resampler.process(decoder.decode(packet))));
    if (at !== undefined) return (index % BEEP_EVERY_PACKETS) * 20 + at;
  }
  throw new Error("No beep came out of the codecs");
}
