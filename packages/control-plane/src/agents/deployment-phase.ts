import type { DeploymentPhase, DeploymentRow } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

// Failed and Superseded never touch the Active one.
const ARROWS: Record<DeploymentPhase, readonly DeploymentPhase[]> = {
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
  changes?: Partial<Pick<DeploymentRow, "failureCode" | "failureText" | "spec">>;
}

/** Whether it was done; false if the row has changed since it was read. Throws on an arrow that is not drawn. */
export async function moveDeployment(
  tx: Tx,
  row: Pick<DeploymentRow, "id" | "phase" | "version">,
  move: PhaseMove,
): Promise<boolean> {
  if (!ARROWS[row.phase].includes(move.to))
    throw new Error(`A deployment cannot go from ${row.phase} to ${move.to}`);
  const { numUpdatedRows } = await tx
    .updateTable("deployments")
    .set({
      ...move.changes,
      phase: move.to,
      phaseStartedAt: move.nowMs,
      updatedAt: move.nowMs,
      version: row.version + 1,
    })
    .where("id", "=", row.id)
    .where("version", "=", row.version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
