/** A seeded generator: tests hear the same noise on every machine. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function makeNoise(count: number, amplitude: number, seed = 1): Int16Array {
  const random = createRandom(seed);
  return Int16Array.from({ length: count }, () => Math.round(amplitude * (2 * random() - 1)));
}

export function makeTone(count: number, toneHz: number, sampleRateHz: number, amplitude: number): Int16Array {
  return Int16Array.from({ length: count }, (_, index) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * toneHz * index) / sampleRateHz)),
  );
}

export function rms(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

export function join(parts: Int16Array[]): Int16Array {
  const joined = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
