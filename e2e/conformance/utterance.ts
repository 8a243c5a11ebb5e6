import { measureTone, type Sound, type Tone } from "./tone.ts";

/** The part of a sound between its first and its last audible sample. */
export interface Utterance {
  lengthMs: number;
  /** Silence inside it: what listeners hear as stutter. */
  gapMs: number;
  silenceAfterMs: number;
  ending: Tone;
}

const AUDIBLE = 0.005;
const GAP_MIN_MS = 1; // a tone crosses zero faster
const ENDING_MS = 80;

export function findUtterance({ samples, sampleRateHz }: Sound): Utterance | undefined {
  const isAudible = (sample: number): boolean => Math.abs(sample) > AUDIBLE;
  const first = samples.findIndex(isAudible);
  if (first < 0) return undefined;
  const last = samples.findLastIndex(isAudible);
  const toMs = (count: number): number => (count * 1000) / sampleRateHz;
  let gapMs = 0;
  let silent = 0;
  for (const sample of samples.subarray(first, last + 1)) {
    if (!isAudible(sample)) silent += 1;
    else {
      if (toMs(silent) >= GAP_MIN_MS) gapMs += toMs(silent);
      silent = 0;
    }
  }
  return {
    lengthMs: toMs(last - first + 1),
    gapMs,
    silenceAfterMs: toMs(samples.length - last - 1),
    ending: measureTone({
      samples: samples.slice(Math.max(first, last - (ENDING_MS * sampleRateHz) / 1000), last),
      sampleRateHz,
    }),
  };
}
