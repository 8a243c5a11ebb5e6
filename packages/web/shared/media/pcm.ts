/** Samples from -1 to 1 as signed 16-bit numbers, clipped. */
export function toPcm(samples: Float32Array): Int16Array<ArrayBuffer> {
  return Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 0x7fff);
}

export function fromPcm(pcm: Int16Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(pcm, (sample) => sample / 0x8000);
}
