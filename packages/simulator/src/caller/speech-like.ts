import type { AudioFrame } from "@vocalhost/audio";
import { createSeededRandom } from "../seeded-random.ts";

/**
 * Generates a short unintelligible sentence: a buzzing voice, three resonances that move from vowel to vowel, and
 * some noise between. Bots take it for a turn, and it needs no file.
 */
export function createSpeechLike(): AudioFrame {
  const random = createSeededRandom(7);
  const samples = new Int16Array(SOUNDS.reduce((sum, sound) => sum + samplesOf(sound), 0));
  const resonances = [createResonance(70), createResonance(90), createResonance(140)];
  let glottis = 0; // phase of the vocal cords
  let smoothed = 0;
  let at = 0;
  for (const [index, sound] of SOUNDS.entries()) {
    const before = SOUNDS[index - 1] ?? sound;
    const length = samplesOf(sound);
    for (let step = 0; step < length; step++, at++) {
      const glide = Math.min(1, step / GLIDE_SAMPLES);
      const melodyHz = 150 - 45 * (at / samples.length) + 8 * Math.sin(at / 900);
      glottis = (glottis + (melodyHz * (1 + 0.01 * (random() - 0.5))) / RATE_HZ) % 1;
      const pulse = glottis < 0.4 ? Math.sin((Math.PI * glottis) / 0.4) ** 2 - 0.3 : -0.3;
      const source = sound.voiced * pulse + sound.hiss * (random() - 0.5);
      smoothed = 0.5 * smoothed + source; // a throat is softer than a buzzer
      let voice = 0;
      for (const [number, resonance] of resonances.entries()) {
        const hz =
          before.formantsHz[number]! + (sound.formantsHz[number]! - before.formantsHz[number]!) * glide;
        voice += resonance(smoothed, hz) / (number + 1);
      }
      samples[at] = Math.max(-30_000, Math.min(30_000, voice * LEVEL * envelope(step, length)));
    }
  }
  return { samples, sampleRateHz: RATE_HZ };
}

interface Sound {
  ms: number;
  formantsHz: readonly [number, number, number];
  voiced: number;
  hiss: number;
}

const RATE_HZ = 8000;
const GLIDE_SAMPLES = 320;
const LEVEL = 400;

// Roughly: "hello there, how are you today".
const SOUNDS: readonly Sound[] = [
  { ms: 60, formantsHz: [550, 1700, 2500], voiced: 0.1, hiss: 1.2 },
  { ms: 110, formantsHz: [550, 1750, 2500], voiced: 1, hiss: 0.05 },
  { ms: 70, formantsHz: [380, 1100, 2600], voiced: 0.7, hiss: 0 },
  { ms: 190, formantsHz: [480, 900, 2400], voiced: 1, hiss: 0.05 },
  { ms: 50, formantsHz: [300, 1500, 2500], voiced: 0.4, hiss: 0.5 },
  { ms: 170, formantsHz: [560, 1750, 2450], voiced: 1, hiss: 0.05 },
  { ms: 90, formantsHz: [500, 1400, 2400], voiced: 0, hiss: 0 },
  { ms: 50, formantsHz: [700, 1200, 2500], voiced: 0.1, hiss: 1.2 },
  { ms: 180, formantsHz: [720, 1150, 2500], voiced: 1, hiss: 0.05 },
  { ms: 120, formantsHz: [680, 1100, 2400], voiced: 1, hiss: 0.05 },
  { ms: 70, formantsHz: [300, 2200, 2900], voiced: 0.8, hiss: 0 },
  { ms: 140, formantsHz: [320, 950, 2300], voiced: 1, hiss: 0.05 },
  { ms: 50, formantsHz: [350, 1700, 2600], voiced: 0, hiss: 1 },
  { ms: 80, formantsHz: [450, 1300, 2400], voiced: 1, hiss: 0.05 },
  { ms: 40, formantsHz: [300, 1700, 2600], voiced: 0.3, hiss: 0.4 },
  { ms: 230, formantsHz: [450, 2000, 2700], voiced: 0.9, hiss: 0.05 },
];

function samplesOf({ ms }: Sound): number {
  return (ms * RATE_HZ) / 1000;
}

/** Two poles: rings at the frequency it is given. */
function createResonance(widthHz: number): (input: number, hz: number) => number {
  const radius = Math.exp((-Math.PI * widthHz) / RATE_HZ);
  let last = 0;
  let beforeLast = 0;
  return (input, hz) => {
    const output =
      input + 2 * radius * Math.cos((2 * Math.PI * hz) / RATE_HZ) * last - radius ** 2 * beforeLast;
    beforeLast = last;
    last = output;
    return output;
  };
}

function envelope(step: number, length: number): number {
  const edge = length / 5;
  return Math.min(1, 0.5 + step / (2 * edge), 0.5 + (length - step) / (2 * edge));
}
