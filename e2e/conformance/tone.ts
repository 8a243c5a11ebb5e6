/** A stretch of mono sound; samples go from -1 to 1. */
export interface Sound {
  samples: Float32Array;
  sampleRateHz: number;
}

/** The loudest tone in a sound. */
export interface Tone {
  /** Root mean square of the whole sound. */
  level: number;
  frequencyHz: number;
  /** The tone's share of the sound's energy, 0 to 1. */
  purity: number;
}

const LOWEST_HZ = 100;
const HIGHEST_HZ = 4_000;
const STEP_HZ = 10;

export function measureTone({ samples, sampleRateHz }: Sound): Tone {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  if (energy === 0) return { level: 0, frequencyHz: 0, purity: 0 };
  let best = { frequencyHz: 0, power: 0 };
  for (let frequencyHz = LOWEST_HZ; frequencyHz <= HIGHEST_HZ; frequencyHz += STEP_HZ) {
    const power = goertzel(samples, (2 * Math.PI * frequencyHz) / sampleRateHz);
    if (power > best.power) best = { frequencyHz, power };
  }
  return {
    level: Math.sqrt(energy / samples.length),
    frequencyHz: best.frequencyHz,
    purity: (2 * best.power) / (samples.length * energy),
  };
}

const AUDIBLE_LEVEL = 0.01;
const SILENT_LEVEL = 0.001;
const TOLERANCE_HZ = 20;

export function isTone(tone: Tone, frequencyHz: number): boolean {
  return tone.purity > 0.5 && isMostly(tone, frequencyHz);
}

/** The frequency is the loudest, whatever else there is. */
export function isMostly(tone: Tone, frequencyHz: number): boolean {
  return tone.level > AUDIBLE_LEVEL && Math.abs(tone.frequencyHz - frequencyHz) <= TOLERANCE_HZ;
}

export function isSilence(tone: Tone): boolean {
  return tone.level < SILENT_LEVEL;
}

/** Power of one frequency, given in radians per sample. */
function goertzel(samples: Float32Array, step: number): number {
  const factor = 2 * Math.cos(step);
  let last = 0;
  let beforeLast = 0;
  for (const sample of samples) {
    const next = sample + factor * last - beforeLast;
    beforeLast = last;
    last = next;
  }
  return last * last + beforeLast * beforeLast - factor * last * beforeLast;
}
