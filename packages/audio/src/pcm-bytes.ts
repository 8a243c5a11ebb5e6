const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Signed 16-bit little-endian bytes of the samples; a view of them where the machine allows. */
export function pcmBytes(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return LITTLE_ENDIAN ? bytes : swapped(bytes);
}

/** A copy of the samples in signed 16-bit little-endian bytes; channels are mixed to one. */
export function pcmSamples(bytes: Uint8Array, channels: number): Int16Array {
  const whole = bytes.subarray(0, bytes.length & ~1);
  // Not `slice`: that of Node's Buffer is a view of memory it shares with others.
  const samples = new Int16Array((LITTLE_ENDIAN ? new Uint8Array(whole) : swapped(whole)).buffer);
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

function swapped(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(bytes.length);
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    result[at] = bytes[at + 1]!;
    result[at + 1] = bytes[at]!;
  }
  return result;
}

/** How loud the samples are: 0 is silence, 1 a square wave at full scale. */
export function rmsLevel(samples: Int16Array): number {
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length) / FULL_SCALE;
}

const FULL_SCALE = 32_768;
