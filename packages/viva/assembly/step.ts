import { joinSpectrum, splitSpectrum, transform } from "./fourier";
import { BAND_BINS, BINS, FEATURES, FRAMES_SEEN, Model } from "./model";
import { runNetwork } from "./network";
import { Plan } from "./plan";
import { takeFloats } from "./room";
import { PEAK_DECAY, Session } from "./session";
import { log } from "./vector-math";

/** Features are kept of this frame and of those before. */
const FRAMES_BEFORE = <usize>(FRAMES_SEEN - 1);
const MAX_SIZE: i32 = 1536;
const MAX_HOP: i32 = 480;
const DECIBELS: f32 = 4.342944819; // 10 / ln 10
const SMALLEST_POWER: f32 = 1e-10;
const BIN_OFFSET: f32 = 2.0411998; // 10 log10(256 / 160)
const LEVEL_OFFSET: f32 = 4.0970893; // 10 log10(122 · 256 / (76 · 160))
/** The level of speech is taken from 190 Hz to 4 kHz. */
const LEVEL_FROM: i32 = 6;
const LEVEL_TO: i32 = 128;

export const input = takeFloats(MAX_HOP / 2);
export const output = takeFloats(MAX_HOP / 2);
const gains = takeFloats(MAX_SIZE / 2 + 8);
const bandGains = takeFloats(64);
const re = takeFloats(MAX_SIZE / 2 + 8);
const im = takeFloats(MAX_SIZE / 2 + 8);
const otherRe = takeFloats(MAX_SIZE / 2 + 8);
const otherIm = takeFloats(MAX_SIZE / 2 + 8);
const powers = takeFloats(MAX_SIZE / 2 + 8);

/** 10 ms in, 10 ms out; what comes out went in 20 ms before. */
export function step(at: usize): void {
  const session = changetype<Session>(at);
  const plan = changetype<Plan>(session.plan);
  const model = changetype<Model>(session.model);
  session.energyIn += listen(session, plan);
  analyse(session, plan);
  describe(session, plan, model);
  const near = runNetwork(
    model,
    plan,
    session.features,
    session.layers,
    session.listener,
    session.memory,
    gains,
    bandGains,
  );
  if (near > 0.5) session.nearFrames++;
  spreadBands(plan, model);
  applyGains(session, plan);
  synthesise(session, plan);
  session.energyOut += speak(session, plan);
}

/** Appends the input to the history. */
function listen(session: Session, plan: Plan): f64 {
  const bytes = <usize>plan.hop << 2;
  const kept = (<usize>plan.size << 2) - bytes;
  memory.copy(session.history, session.history + bytes, kept);
  let energy: f64 = 0;
  for (let i = 0; i < plan.hop; i++) {
    const sample = <f32>load<i16>(input + (<usize>i << 1)) * (1.0 / 32768.0);
    store<f32>(session.history + kept + (<usize>i << 2), sample);
    energy += <f64>(sample * sample);
  }
  return energy;
}

function analyse(session: Session, plan: Plan): void {
  const half = plan.size / 2;
  for (let at: usize = 0; at < <usize>half << 2; at += 16) {
    const from = at << 1;
    const a = f32x4.mul(v128.load(session.history + from), v128.load(plan.analysis + from));
    const b = f32x4.mul(v128.load(session.history + from, 16), v128.load(plan.analysis + from, 16));
    v128.store(re + at, i32x4.shuffle(a, b, 0, 2, 4, 6));
    v128.store(im + at, i32x4.shuffle(a, b, 1, 3, 5, 7));
  }
  transform(re, im, otherRe, otherIm, half, plan.stages, plan.stageCount, plan.twiddles);
  splitSpectrum(re, im, half, plan.turns);
}

/** Features of this frame after those of the two before. */
function describe(session: Session, plan: Plan, model: Model): void {
  const known = min(plan.size / 2 + 1, plan.kept);
  const scale = f32x4.splat(plan.scale * plan.scale);
  for (let at: usize = 0; at < <usize>known << 2; at += 16) {
    const x = v128.load(re + at);
    const y = v128.load(im + at);
    v128.store(powers + at, f32x4.mul(scale, f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y))));
  }
  const highest = BINS + model.bands * BAND_BINS + 4;
  if (highest > known) memory.fill(powers + (<usize>known << 2), 0, <usize>(highest - known) << 2);
  let sum = SMALLEST_POWER;
  for (let k = LEVEL_FROM; k < LEVEL_TO; k++) sum += load<f32>(powers + (<usize>k << 2));
  const level = DECIBELS * f32x4.extract_lane(log(f32x4.splat(sum)), 0) - LEVEL_OFFSET;
  const peak = max(session.peak - PEAK_DECAY, level);
  session.peak = peak;

  const bytes = <usize>FEATURES << 2;
  memory.copy(session.features, session.features + bytes, FRAMES_BEFORE * bytes);
  const features = session.features + FRAMES_BEFORE * bytes;
  const offset = f32x4.splat(-BIN_OFFSET - peak + 35);
  for (let at: usize = 0; at < <usize>BINS << 2; at += 16)
    v128.store(features + at, logPower(v128.load(powers + at), offset));
  store<f32>(features + (<usize>BINS << 2), (peak - 10) / 20);
  store<f32>(features + (<usize>BINS << 2), (level - peak + 15) / 15, 4);
  store<f32>(features + (<usize>BINS << 2), 0, 8);
  if (model.bands > 0) describeBands(session, model, offset);
}

// @ts-ignore: decorator
@inline
function logPower(power: v128, offset: v128): v128 {
  const decibels = f32x4.mul(f32x4.splat(DECIBELS), log(f32x4.add(power, f32x4.splat(SMALLEST_POWER))));
  return f32x4.mul(f32x4.add(decibels, offset), f32x4.splat(0.05));
}

function describeBands(session: Session, model: Model, offset: v128): void {
  const bytes = <usize>model.bands << 2;
  const bands = session.layers + (<usize>(model.conv + 2 * model.hidden) << 2);
  memory.copy(bands, bands + bytes, FRAMES_BEFORE * bytes);
  const now = bands + FRAMES_BEFORE * bytes;
  for (let band = 0; band < model.bands; band++) {
    let sum: f32 = 0;
    const from = powers + (<usize>(BINS + band * BAND_BINS) << 2);
    for (let k: usize = 0; k < <usize>BAND_BINS; k++) sum += load<f32>(from + (k << 2));
    store<f32>(now + (<usize>band << 2), sum * (1.0 / <f32>BAND_BINS));
  }
  for (let at: usize = 0; at < bytes; at += 16)
    v128.store(now + at, logPower(v128.load(now + at), offset));
}

/** A gain for every bin above 8 kHz: between the middles of two bands in a straight line, or none. */
function spreadBands(plan: Plan, model: Model): void {
  const last = plan.size / 2;
  for (let k = BINS; k <= last; k++) {
    let gain: f32 = 0;
    if (model.bands > 0 && k < plan.kept) {
      const place = max<f32>(0, (<f32>(k - BINS) - 7.5) / <f32>BAND_BINS);
      const band = min(<i32>place, model.bands - 2);
      const part = min<f32>(1, place - <f32>band);
      const below = load<f32>(bandGains + (<usize>band << 2));
      gain = below + part * (load<f32>(bandGains + (<usize>band << 2), 4) - below);
    }
    store<f32>(gains + (<usize>k << 2), gain);
  }
}

/** Applies the gains to the frame before, and keeps this one for the next step. */
function applyGains(session: Session, plan: Plan): void {
  for (let at: usize = 0; at <= <usize>(plan.size / 2) << 2; at += 16) {
    const gain = v128.load(gains + at);
    const x = f32x4.mul(v128.load(session.beforeRe + at), gain);
    const y = f32x4.mul(v128.load(session.beforeIm + at), gain);
    v128.store(session.beforeRe + at, v128.load(re + at));
    v128.store(session.beforeIm + at, v128.load(im + at));
    v128.store(re + at, x);
    v128.store(im + at, y);
  }
}

/** Adds the last 20 ms of the frame to the overlap. */
function synthesise(session: Session, plan: Plan): void {
  const half = plan.size / 2;
  joinSpectrum(re, im, half, plan.turns);
  // With real and imaginary parts exchanged the transform is its own inverse.
  transform(im, re, otherIm, otherRe, half, plan.stages, plan.stageCount, plan.twiddles);
  const skipped = <usize>(half - plan.hop) << 2;
  for (let at: usize = 0; at < <usize>plan.hop << 2; at += 16) {
    const x = v128.load(re + skipped + at);
    const y = v128.load(im + skipped + at);
    const to = at << 1;
    addWindowed(session.overlap + to, plan.synthesis + to, i32x4.shuffle(x, y, 0, 4, 1, 5));
    addWindowed(session.overlap + to + 16, plan.synthesis + to + 16, i32x4.shuffle(x, y, 2, 6, 3, 7));
  }
}

// @ts-ignore: decorator
@inline
function addWindowed(sum: usize, window: usize, values: v128): void {
  v128.store(sum, f32x4.add(v128.load(sum), f32x4.mul(v128.load(window), values)));
}

/** Gives out what is complete. */
function speak(session: Session, plan: Plan): f64 {
  let energy: f64 = 0;
  for (let i = 0; i < plan.hop; i++) {
    const sample = load<f32>(session.overlap + (<usize>i << 2));
    energy += <f64>(sample * sample);
    store<i16>(output + (<usize>i << 1), <i16>max<f32>(-32768, min<f32>(32767, nearest(sample * 32768))));
  }
  const bytes = <usize>plan.hop << 2;
  memory.copy(session.overlap, session.overlap + bytes, bytes);
  memory.fill(session.overlap + bytes, 0, bytes);
  return energy;
}
