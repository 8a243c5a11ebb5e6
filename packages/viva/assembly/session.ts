import { FEATURES, FRAMES_SEEN, Model } from "./model";
import { sumBlank } from "./network";
import { Plan } from "./plan";
import { take, takeFloats } from "./room";

/** The peak level before the first frame, in dB, and what it loses in each. */
export const FIRST_PEAK: f32 = -20;
export const PEAK_DECAY: f32 = 0.004;

/** What one stream of audio remembers. */
@unmanaged
export class Session {
  model: usize = 0;
  plan: usize = 0;
  bytes: usize = 0;
  peak: f32 = 0;
  nearFrames: i32 = 0;
  energyIn: f64 = 0;
  energyOut: f64 = 0;
  /** The last 32 ms of input. */
  history: usize = 0;
  /** Output of which the second half is still to come. */
  overlap: usize = 0;
  /** Spectrum of the frame before: the gain is known one frame late. */
  beforeRe: usize = 0;
  beforeIm: usize = 0;
  features: usize = 0;
  /** How likely the near talker spoke of late, and how long music has been heard in place of a voice: a number each. */
  memory: usize = 0;
  /** In a row: layer of frames, first and second recurrent layer, features of the high bands. */
  layers: usize = 0;
  /** In a row: what the listener for music on hold hears, and its own values. */
  listener: usize = 0;
}

export function openSession(modelAt: usize, planAt: usize): usize {
  const at = take(offsetof<Session>());
  const model = changetype<Model>(modelAt);
  const plan = changetype<Plan>(planAt);
  const session = changetype<Session>(at);
  session.model = modelAt;
  session.plan = planAt;
  sumBlank(model, plan);
  session.history = takeFloats(plan.size);
  session.overlap = takeFloats(2 * plan.hop);
  session.beforeRe = takeFloats(plan.size / 2 + 4);
  session.beforeIm = takeFloats(plan.size / 2 + 4);
  session.features = takeFloats(FRAMES_SEEN * FEATURES);
  session.memory = takeFloats(4);
  session.layers = takeFloats(model.conv + 2 * model.hidden + FRAMES_SEEN * model.bands);
  session.listener = takeFloats(model.conv + 2 * model.hidden + model.holdHidden);
  session.bytes = take(0) - session.history;
  resetSession(at);
  return at;
}

export function resetSession(at: usize): void {
  const session = changetype<Session>(at);
  memory.fill(session.history, 0, session.bytes);
  session.peak = FIRST_PEAK + PEAK_DECAY;
  session.nearFrames = 0;
  session.energyIn = 0;
  session.energyOut = 0;
}

export function nearFrames(session: usize): i32 {
  return changetype<Session>(session).nearFrames;
}

export function energyIn(session: usize): f64 {
  return changetype<Session>(session).energyIn;
}

export function energyOut(session: usize): f64 {
  return changetype<Session>(session).energyOut;
}
