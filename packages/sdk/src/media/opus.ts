import { FRAME_MS, samplesIn } from "@vocalhost/audio";
import { Application, createDecoder, createEncoder, Signal } from "libopus-wasm";
import type { SampleRate } from "libopus-wasm";

/** Sample rates in Hz that Opus supports without a resampler, ascending. */
export const OPUS_RATES: readonly SampleRate[] = [8000, 12_000, 16_000, 24_000, 48_000];

/** Creates an encoder of 20 ms frames. */
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

/** Creates a decoder to mono sound, whatever the packets' channels and rate. */
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
  /** CPU time against quality, from 0 to 10. @default 5 */
  complexity?: number;
  /** Bits per second. @default 32000 */
  bitrate?: number;
  /** Whether packets carry a copy of the frame before, for when its packet is lost. @default true */
  fec?: boolean;
}

/** Returned arrays belong to the caller, since they are copied out of the library's memory. */
export interface OpusEncoder {
  encode(samples20ms: Int16Array): Uint8Array;
  setComplexity(complexity: number): void;
  /** Takes the loss reported by the other side; more loss puts more of the bitrate into the copies. */
  setPacketLossPercent(percent: number): void;
  free(): void;
}

export interface OpusDecoderOptions {
  sampleRateHz: number;
}

/** Returned arrays belong to the caller, since they are copied out of the library's memory. */
export interface OpusDecoder {
  readonly sampleRateHz: number;
  /** Throws on a corrupt packet. */
  decode(packet: Uint8Array): Int16Array;
  /** Returns whether the packet carries a copy of the frame before it. */
  canRecover(nextPacket: Uint8Array): boolean;
  /** Returns the lost frame before `nextPacket`; call it before decoding that. @default durationMs 20 */
  recover(nextPacket: Uint8Array, durationMs?: number): Int16Array;
  /** Returns an estimate of a lost frame, from the audio before it. @default durationMs 20 */
  conceal(durationMs?: number): Int16Array;
  free(): void;
}

// With an expected loss of 0 libopus writes no copies even with FEC enabled.
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
      return undefined; // packets with several frames are not used for voice
  }
}
