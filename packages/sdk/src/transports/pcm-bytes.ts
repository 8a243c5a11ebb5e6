import { endianness } from "node:os";

const LITTLE_ENDIAN = endianness() === "LE";

/** Signed 16-bit little-endian bytes of the samples. */
export function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return LITTLE_ENDIAN ? bytes : Buffer.from(bytes).swap16();
}

/** A copy of the samples in signed 16-bit little-endian bytes; channels are mixed to one. */
export function pcmSamples(bytes: Uint8Array, channels: number): Int16Array {
  const whole = new Uint8Array(bytes.length & ~1);
  whole.set(bytes.subarray(0, whole.length));
  if (!LITTLE_ENDIAN) Buffer.from(whole.buffer).swap16();
  const samples = new Int16Array(whole.buffer);
  return channels > 1 ? mixed(samples, channels) : samples;
}

function mixed(samples: Int16Array, channels: number): Int16Array {
  const mono = new Int16Array(Math.floor(samples.length / channels));
  for (let at = 0; at < mono.length; at += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += samples[at * channels + channel] ?? 0;
    mono[at] = Math.round(sum / channels);
  }
  return mono;
}
