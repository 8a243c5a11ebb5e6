import type { InstanceRow, InstanceState } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

// `busy` ends only when its session is terminal: not by scaling, rollout or readiness.
const ARROWS: Record<InstanceState, readonly InstanceState[]> = {
  requested: ["starting", "draining"],
  starting: ["ready", "draining", "stopped"],
  ready: ["busy", "draining", "stopped"],
  busy: ["draining", "lost"],
  draining: ["stopped"],
  stopped: [],
  lost: [],
};

export const LIVE_INSTANCE_STATES = ["requested", "starting", "ready", "busy", "draining"] as const;

export interface InstanceMove {
  to: InstanceState;
  /** In words. */
  cause: string;
  nowMs: number;
  changes?: Partial<Pick<InstanceRow, "sessionId" | "address" | "readyAt" | "exitCode">>;
}

/** False if the row has changed since it was read. Throws on an arrow that is not drawn. */
export async function moveInstance(
  tx: Tx,
  row: Pick<InstanceRow, "id" | "state" | "version">,
  move: InstanceMove,
): Promise<boolean> {
  if (!ARROWS[row.state].includes(move.to))
    throw new Error(`An instance cannot go from ${row.state} to ${move.to} (${move.cause})`);
  const { numUpdatedRows } = await tx
    .updateTable("instances")
    .set({
      ...move.changes,
      state: move.to,
      cause: move.cause,
      stateAt: move.nowMs,
      version: row.version + 1,
    })
    .where("id", "=", row.id)
    .where("version", "=", row.version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
