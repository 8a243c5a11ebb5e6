/** How loud the samples are: 0 is silence, 1 a square wave at full scale. */
export function rmsLevel(samples: Int16Array): number {
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length) / FULL_SCALE;
}

const FULL_SCALE = 32_768;
