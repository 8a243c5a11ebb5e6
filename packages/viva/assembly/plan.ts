import { LAST_FEATURES } from "./model";
import { take, takeFloats } from "./room";

/** What all sessions of one sample rate share. The host fills the tables. */
@unmanaged
export class Plan {
  /** Samples in a window of 32 ms. */
  size: i32 = 0;
  /** Samples in a step of 10 ms. */
  hop: i32 = 0;
  /** Entries of the spectrum that are kept; the rest is silent. */
  kept: i32 = 0;
  /** Makes a spectrum as strong as it would be at 16 kHz. */
  scale: f32 = 1;
  stages: usize = 0;
  stageCount: i32 = 0;
  twiddles: usize = 0;
  turns: usize = 0;
  analysis: usize = 0;
  synthesis: usize = 0;
  /** From here to LAST_FEATURES a frame's features are all one value: this rate has no such frequencies. */
  blankFrom: i32 = 0;
  /** For each frame seen, the sums of the first layer's weights there; 0 until a session needs them. */
  blankSums: usize = 0;
}

export function openPlan(size: i32, hop: i32, kept: i32, scale: f32, stageCount: i32, twiddles: i32): usize {
  const at = take(offsetof<Plan>());
  const plan = changetype<Plan>(at);
  plan.size = size;
  plan.hop = hop;
  plan.kept = kept;
  plan.scale = scale;
  plan.blankFrom = min(LAST_FEATURES, (size / 2 + 1 + 7) & ~7);
  plan.stageCount = stageCount;
  plan.stages = takeFloats(stageCount);
  plan.twiddles = takeFloats(twiddles);
  plan.turns = takeFloats(size + 2);
  plan.analysis = takeFloats(size);
  plan.synthesis = takeFloats(2 * hop);
  return at;
}

export function planStages(plan: usize): usize {
  return changetype<Plan>(plan).stages;
}

export function planTwiddles(plan: usize): usize {
  return changetype<Plan>(plan).twiddles;
}

export function planTurns(plan: usize): usize {
  return changetype<Plan>(plan).turns;
}

export function planAnalysis(plan: usize): usize {
  return changetype<Plan>(plan).analysis;
}

export function planSynthesis(plan: usize): usize {
  return changetype<Plan>(plan).synthesis;
}
