import { createSeededRandom } from "../seeded-random.ts";

export const backgroundNames = ["silence", "noise", "tone"] as const;
export type BackgroundName = (typeof backgroundNames)[number];

/** Background sound of a microphone while the caller is silent. */
export function createBackground(options: BackgroundOptions): (samples: number) => Int16Array {
  const { name, sampleRateHz } = options;
  const random = createSeededRandom(options.seed ?? 1);
  let done = 0;
  return (samples) => {
    const sound = new Int16Array(samples);
    if (name === "noise") for (let at = 0; at < samples; at++) sound[at] = (random() * 2 - 1) * NOISE_LEVEL;
    if (name === "tone")
      for (let at = 0; at < samples; at++)
        sound[at] = TONE_LEVEL * Math.sin((2 * Math.PI * TONE_HZ * (done + at)) / sampleRateHz);
    done += samples;
    return sound;
  };
}

export interface BackgroundOptions {
  name: BackgroundName;
  sampleRateHz: number;
  /** Seed of the noise. @default 1 */
  seed?: number;
}

const NOISE_LEVEL = 180; // -50 dB: a quiet room, not speech
const TONE_HZ = 440;
const TONE_LEVEL = 8000;
