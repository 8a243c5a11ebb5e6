import { FRAME_MS, samplesIn } from "@vocalhost/audio";
import { Application, createDecoder, createEncoder, Signal } from "libopus-wasm";
import type { SampleRate } from "libopus-wasm";

/** The rates in Hz, ascending, that Opus reads and writes by itself, without a resampler. */
export const OPUS_RATES: readonly SampleRate[] = [8000, 12_000, 16_000, 24_000, 48_000];

/** Turns frames of 20 ms into packets. */
export async function createOpusEncoder(options: OpusEncoderOptions): Promise<OpusEncoder> {
  const encoder = await createEncoder({
    sampleRate: opusRate(options.sampleRateHz),
    channels: 1,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: options.bitrate ?? 32_000,
    complexity: options.complexity ?? 5,
    fec: options.fec ?? true,
    packetLossPercent: EXPECTED_LOSS_PERCENT,
  });
  return {
    encode: (samples20ms) => encoder.encode(samples20ms),
    setComplexity: (complexity) => encoder.setComplexity(complexity),
    setPacketLossPercent: (percent) => encoder.setPacketLossPercent(percent),
    free: () => encoder.free(),
  };
}

/** Turns packets into mono sound, whatever the number of channels and the rate that were sent. */
export async function createOpusDecoder(options: OpusDecoderOptions): Promise<OpusDecoder> {
  const sampleRate = opusRate(options.sampleRateHz);
  const decoder = await createDecoder({ sampleRate, channels: 1 });
  return {
    sampleRateHz: sampleRate,
    decode: (packet) => decoder.decode(packet),
    canRecover: hasForwardErrorCorrection,
    recover: (nextPacket, durationMs = FRAME_MS) =>
      decoder.decode(nextPacket, { decodeFec: true, frameSize: samplesIn(durationMs, sampleRate) }),
    conceal: (durationMs = FRAME_MS) => decoder.decodePacketLoss(samplesIn(durationMs, sampleRate)),
    free: () => decoder.free(),
  };
}

export interface OpusEncoderOptions {
  sampleRateHz: number;
  /** 0 to 10: CPU time against quality. @default 5 */
  complexity?: number;
  /** Bits per second. @default 32000 */
  bitrate?: number;
  /** Packets carry a copy of the frame before, for when its packet is lost. @default true */
  fec?: boolean;
}

/** Every array given back is the caller's own: the library copies out of its memory. */
export interface OpusEncoder {
  encode(samples20ms: Int16Array): Uint8Array;
  setComplexity(complexity: number): void;
  /** What the other side reports: more loss puts more of the bitrate into the copies. */
  setPacketLossPercent(percent: number): void;
  free(): void;
}

export interface OpusDecoderOptions {
  sampleRateHz: number;
}

/** Every array given back is the caller's own: the library copies out of its memory. */
export interface OpusDecoder {
  readonly sampleRateHz: number;
  /** Throws on a corrupt packet. */
  decode(packet: Uint8Array): Int16Array;
  /** Whether the packet carries a copy of the frame before it. */
  canRecover(nextPacket: Uint8Array): boolean;
  /** The lost frame before `nextPacket`; call before decoding that. @default durationMs 20 */
  recover(nextPacket: Uint8Array, durationMs?: number): Int16Array;
  /** A guess at a lost frame, from what was heard before. @default durationMs 20 */
  conceal(durationMs?: number): Int16Array;
  free(): void;
}

// With 0 expected loss libopus writes no copies even when told to.
const EXPECTED_LOSS_PERCENT = 10;

function opusRate(sampleRateHz: number): SampleRate {
  const rate = OPUS_RATES.find((known) => known === sampleRateHz);
  if (rate === undefined) {
    throw new RangeError(`Opus cannot work at ${sampleRateHz} Hz, only at ${OPUS_RATES.join(", ")}`);
  }
  return rate;
}

// RFC 6716, sections 3.1 and 4.2.3: a SILK frame opens with one voice bit per 20 ms and one bit
// that announces the copy.
function hasForwardErrorCorrection(packet: Uint8Array): boolean {
  const contents = packet[0];
  const header = firstFrameByte(packet);
  if (contents === undefined || header === undefined) return false;
  const configuration = contents >> 3;
  if (configuration >= 16) return false; // CELT has no copies
  const isHybrid = configuration >= 12;
  const voiceBits = isHybrid ? 1 : Math.max(1, configuration & 3);
  return (header & (0x80 >> voiceBits)) !== 0;
}

function firstFrameByte(packet: Uint8Array): number | undefined {
  switch ((packet[0] ?? 0) & 3) {
    case 0:
    case 1:
      return packet[1];
    case 2:
      return packet[(packet[1] ?? 0) < 252 ? 2 : 3];
    default:
      return undefined; // several frames of any length: nobody sends those for voice
  }
}
