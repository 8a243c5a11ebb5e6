import { type Arrows, compareAndSet, requireArrow } from "@vocalhost/store/move-row";
import type { DeploymentPhase, DeploymentRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";

// Failed and Superseded deployments never affect the Active one.
const ARROWS: Arrows<DeploymentPhase> = {
  Creating: ["Validating", "Failed", "Superseded"],
  Validating: ["Active", "Failed", "Superseded"],
  Active: ["Draining"],
  Draining: ["Retired"],
  Retired: [],
  Failed: [],
  Superseded: [],
};

export interface PhaseMove {
  to: DeploymentPhase;
  nowMs: number;
  changes?: Partial<Pick<DeploymentRow, "failureCode" | "failureText" | "progressText" | "spec">>;
}

/** Returns false if the row has changed since it was read. Throws on a transition that is not allowed. */
export async function moveDeployment(
  tx: Tx,
  row: Pick<DeploymentRow, "id" | "phase" | "version">,
  { to, nowMs, changes }: PhaseMove,
): Promise<boolean> {
  requireArrow(ARROWS, { what: "A deployment", from: row.phase, to });
  return compareAndSet(tx, "deployments", row, {
    ...changes,
    phase: to,
    phaseStartedAt: nowMs,
    updatedAt: nowMs,
  });
}
