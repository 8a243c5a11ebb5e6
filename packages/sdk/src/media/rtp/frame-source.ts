import type { OpusDecoder } from "../opus.ts";
import type { RtpPacket } from "./rtp.ts";

/** Decodes packets in order, and conceals missing ones. */
export function createFrameSource(options: FrameSourceOptions): FrameSource {
  const { decoder, deliver, stats } = options;
  let packetMs = 20;
  let expectedTimestamp: number | undefined;
  let concealedInARow = 0;

  function conceal(durationMs: number): void {
    if (concealedInARow >= MAX_CONCEALED_IN_A_ROW) return;
    const samples = attempt(() => decoder.conceal(durationMs));
    if (!samples) return;
    concealedInARow++;
    stats.concealed++;
    deliver(samples);
  }

  function recoverLast(next: RtpPacket, durationMs: number): void {
    const samples = decoder.canRecover(next.payload)
      ? attempt(() => decoder.recover(next.payload, durationMs))
      : undefined;
    if (!samples) return conceal(durationMs);
    concealedInARow = 0;
    stats.recovered++;
    deliver(samples);
  }

  return {
    play(packet) {
      if (packet.payload.length === 0) return; // padding only: it has a number and no sound
      const samples = attempt(() => decoder.decode(packet.payload));
      if (samples) packetMs = (samples.length * 1000) / decoder.sampleRateHz;
      expectedTimestamp = packet.timestamp + packetMs * TIMESTAMPS_PER_MS;
      if (!samples) {
        stats.corrupt++;
        return conceal(packetMs);
      }
      concealedInARow = 0;
      deliver(samples);
    },
    fill(missing, next) {
      // A sender that paused has a larger timestamp gap than the lost packets explain.
      const gap = (next.timestamp - (expectedTimestamp ?? next.timestamp)) | 0;
      const steps = Math.floor(gap / missing / TIMESTAMPS_PER_MS / SHORTEST_FRAME_MS);
      const durationMs = Math.min(packetMs, steps * SHORTEST_FRAME_MS);
      if (durationMs <= 0) return;
      for (let i = 0; i < Math.min(missing - 1, MAX_CONCEALED_IN_A_ROW); i++) conceal(durationMs);
      recoverLast(next, durationMs);
    },
    restart() {
      expectedTimestamp = undefined;
      concealedInARow = 0;
    },
  };
}

export interface FrameSourceOptions {
  decoder: OpusDecoder;
  deliver: (samples: Int16Array) => void;
  /** Counters, increased in place. */
  stats: { recovered: number; concealed: number; corrupt: number };
}

export interface FrameSource {
  play(packet: RtpPacket): void;
  /** Conceals this many lost packets before `next`. */
  fill(missing: number, next: RtpPacket): void;
  restart(): void;
}

// Longer concealment sounds like a drone.
const MAX_CONCEALED_IN_A_ROW = 3;
// RFC 7587: Opus timestamps count at 48 kHz, whatever the rate of the sound.
const TIMESTAMPS_PER_MS = 48;
const SHORTEST_FRAME_MS = 2.5;

function attempt(decode: () => Int16Array): Int16Array | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
