// The engine's inner loop. The host (src/kernel.ts) fills tables and models, and calls `step`.
import { input, output } from "./step";

export { take } from "./room";
export { openModel, payloadEnd } from "./model";
export { openPlan, planAnalysis, planStages, planSynthesis, planTurns, planTwiddles } from "./plan";
export { energyIn, energyOut, nearFrames, openSession, resetSession } from "./session";
export { step } from "./step";

export function inputAddress(): usize {
  return input;
}

export function outputAddress(): usize {
  return output;
}
