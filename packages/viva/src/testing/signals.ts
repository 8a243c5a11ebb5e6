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

/** Plucked chords without end, as those who wait on the phone hear them. */
export function makeMusic(count: number, sampleRateHz: number, amplitude: number): Int16Array {
  const notes = [0, 3, 7, 12, 7, 3, -4, 0, 3, 8, 3, 0, 3, 7, 10, 15, 10, 7, -2, 2, 5, 10, 5, 2];
  const music = new Float64Array(count);
  const length = Math.round(sampleRateHz / 4);
  for (let note = 0; note * length < count; note += 1) {
    const hz = 220 * 2 ** ((notes[note % notes.length] ?? 0) / 12);
    for (let at = 0; at < 4 * length && note * length + at < count; at += 1) {
      let value = 0;
      for (let partial = 1; partial <= 6; partial += 1)
        value +=
          (Math.sin((2 * Math.PI * partial * hz * at) / sampleRateHz) / partial) *
          Math.exp((-3 * partial * at) / sampleRateHz);
      music[note * length + at] = (music[note * length + at] ?? 0) + value;
    }
  }
  return Int16Array.from(music, (value) => Math.round((amplitude * value) / 3));
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
