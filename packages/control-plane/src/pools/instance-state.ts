import { type Arrows, compareAndSet, requireArrow } from "@vocalhost/store/move-row";
import type { InstanceRow, InstanceState } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";

// `busy` ends only when its session is terminal: not by scaling, rollout or readiness.
const ARROWS: Arrows<InstanceState> = {
  requested: ["starting", "draining"],
  starting: ["ready", "draining", "stopped"],
  ready: ["busy", "draining", "stopped"],
  busy: ["draining", "lost"],
  draining: ["stopped"],
  stopped: [],
  lost: [],
};

export const LIVE_INSTANCE_STATES = ["requested", "starting", "ready", "busy", "draining"] as const;

/** States of a session in which it holds an instance. */
export const BOUND_SESSION_STATES = ["starting", "active", "stopping"] as const;

export interface InstanceMove {
  to: InstanceState;
  /** A few words for people. */
  cause: string;
  nowMs: number;
  changes?: Partial<Pick<InstanceRow, "sessionId" | "address" | "readyAt" | "exitCode">>;
}

/** Returns false if the row has changed since it was read. Throws on an arrow that is not drawn. */
export async function moveInstance(
  tx: Tx,
  row: Pick<InstanceRow, "id" | "state" | "version">,
  { to, cause, nowMs, changes }: InstanceMove,
): Promise<boolean> {
  requireArrow(ARROWS, { what: `An instance (${cause})`, from: row.state, to });
  return compareAndSet(tx, "instances", row, { ...changes, state: to, cause, stateAt: nowMs });
}
