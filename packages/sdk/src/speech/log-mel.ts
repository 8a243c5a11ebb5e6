import { createFourier, type Complex } from "./fourier.ts";

export const MODEL_HZ = 16_000;
export const BANDS = 80;
export const FRAMES = 800;
const HOP = 160;
const WINDOW = 400;
const BINS = WINDOW / 2 + 1;
export const SAMPLES = FRAMES * HOP; // 8 s

/**
 * Computes the input of Whisper-like models: the power of 80 bands every 10 ms, over 8 s. Shorter sound is aligned
 * to the end.
 */
export function logMel(samples: Float32Array): Float32Array {
  const sound = normalised(samples);
  const silentFrames = Math.floor((SAMPLES - samples.length - WINDOW / 2) / HOP); // before the sound
  const features = new Float32Array(BANDS * FRAMES);
  let loudest = Number.NEGATIVE_INFINITY;
  for (let frame = 0; frame < FRAMES; frame += 2) {
    // All silent frames are alike; two real transforms are computed as one complex one.
    if (frame === 0 || frame + 1 >= silentFrames) {
      window(sound, frame, input.real);
      window(sound, frame + 1, input.imaginary);
      fourier(input, output);
    }
    for (const offset of [0, 1])
      for (let band = 0; band < BANDS; band += 1) {
        const level = Math.log10(Math.max(1e-10, powerOf(band, offset === 0)));
        features[band * FRAMES + frame + offset] = level;
        loudest = Math.max(loudest, level);
      }
  }
  for (let at = 0; at < features.length; at += 1)
    features[at] = (Math.max(features[at]!, loudest - 8) + 4) / 4;
  return features;
}

const LINEAR_MELS = 15; // Slaney's scale, up to 1 kHz
const MELS_PER_E = 27 / Math.log(6.4);
const fourier = createFourier(WINDOW);
const input: Complex = { real: new Float64Array(WINDOW), imaginary: new Float64Array(WINDOW) };
const output: Complex = { real: new Float64Array(WINDOW), imaginary: new Float64Array(WINDOW) };
const hann = Float64Array.from(
  { length: WINDOW },
  (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / WINDOW),
);
const bands = melBands();

/** Returns the last 8 s, padded with silence at the front, with a mean of 0 and a power of 1. */
function normalised(samples: Float32Array): Float32Array {
  const sound = new Float32Array(SAMPLES);
  const last = samples.subarray(Math.max(0, samples.length - SAMPLES));
  sound.set(last, SAMPLES - last.length);
  const mean = sound.reduce((sum, value) => sum + value, 0) / SAMPLES;
  const variance = sound.reduce((sum, value) => sum + (value - mean) ** 2, 0) / SAMPLES;
  const scale = 1 / Math.sqrt(variance + 1e-7);
  return sound.map((value) => (value - mean) * scale);
}

/** Frames are centred; beyond both ends the sound is mirrored. */
function window(sound: Float32Array, frame: number, target: Float64Array): void {
  const from = frame * HOP - WINDOW / 2;
  for (let at = 0; at < WINDOW; at += 1) {
    let index = Math.abs(from + at);
    if (index >= SAMPLES) index = 2 * (SAMPLES - 1) - index;
    target[at] = sound[index]! * hann[at]!;
  }
}

function powerOf(band: number, isFirst: boolean): number {
  const { from, weights } = bands[band]!;
  let power = 0;
  for (let at = 0; at < weights.length; at += 1) {
    const bin = from + at;
    const mirror = (WINDOW - bin) % WINDOW;
    const real = output.real[bin]!;
    const imaginary = output.imaginary[bin]!;
    const otherReal = output.real[mirror]!;
    const otherImaginary = output.imaginary[mirror]!;
    const even = isFirst ? real + otherReal : imaginary + otherImaginary;
    const odd = isFirst ? imaginary - otherImaginary : real - otherReal;
    power += weights[at]! * (even * even + odd * odd) * 0.25;
  }
  return power;
}

/** Triangles of equal area, evenly spaced on Slaney's scale: linear to 1 kHz, then logarithmic. */
function melBands(): { from: number; weights: Float64Array }[] {
  const top = toMel(MODEL_HZ / 2);
  const edges = Array.from({ length: BANDS + 2 }, (_, at) => toHz((top * at) / (BANDS + 1)));
  return Array.from({ length: BANDS }, (_, band) => {
    const [low = 0, middle = 0, high = 0] = edges.slice(band, band + 3);
    const weight = (bin: number): number => {
      const hz = (bin * MODEL_HZ) / WINDOW;
      const height = Math.min((hz - low) / (middle - low), (high - hz) / (high - middle));
      return Math.max(0, height) * (2 / (high - low));
    };
    const all = Array.from({ length: BINS }, (_, bin) => weight(bin));
    const from = Math.max(
      0,
      all.findIndex((value) => value > 0),
    );
    const to = all.findLastIndex((value) => value > 0) + 1;
    return { from, weights: Float64Array.from(all.slice(from, to)) };
  });
}

function toMel(hz: number): number {
  return hz < 1_000 ? (3 * hz) / 200 : LINEAR_MELS + Math.log(hz / 1_000) * MELS_PER_E;
}

function toHz(mel: number): number {
  return mel < LINEAR_MELS ? (200 * mel) / 3 : 1_000 * Math.exp((mel - LINEAR_MELS) / MELS_PER_E);
}
