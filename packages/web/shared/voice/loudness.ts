const samples = new Float32Array(1024);

/** Root mean square of what a meter heard last, 0 to 1. */
export function loudnessOf(meter: AnalyserNode | undefined): number {
  if (!meter) return 0;
  const window = samples.subarray(0, meter.fftSize);
  meter.getFloatTimeDomainData(window);
  let sum = 0;
  for (const sample of window) sum += sample * sample;
  return Math.sqrt(sum / window.length);
}

const QUIET_DB = -52;
const LOUD_DB = -8;
const CONTRAST = 1.5; // speech lives in the upper half of the scale; spread it

/** Loudness as the ear judges it: 0 is silence, 1 a loud voice. */
export function toLevel(loudness: number): number {
  const decibels = 20 * Math.log10(loudness + 1e-9);
  const share = (decibels - QUIET_DB) / (LOUD_DB - QUIET_DB);
  return Math.max(0, Math.min(1, share)) ** CONTRAST;
}
