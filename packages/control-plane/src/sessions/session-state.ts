import { type Arrows, compareAndSet, requireArrow } from "@vocalhost/store/move-row";
import type { SessionRow, SessionState } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";

const ARROWS: Arrows<SessionState> = {
  pending: ["starting", "expired"],
  starting: ["active", "stopping", "failed"],
  active: ["stopping", "ended"],
  stopping: ["ended"],
  ended: [],
  failed: [],
  expired: [],
};

export const OPEN_SESSION_STATES = ["pending", "starting", "active", "stopping"] as const;

export function isTerminal(state: SessionState): boolean {
  return ARROWS[state].length === 0;
}

export interface SessionMove {
  to: SessionState;
  changes?: Partial<Omit<SessionRow, "id" | "state" | "version">>;
}

/** Returns false if the row has changed since it was read. Throws on an arrow that is not drawn. */
export async function moveSession(
  tx: Tx,
  row: Pick<SessionRow, "id" | "state" | "version">,
  { to, changes }: SessionMove,
): Promise<boolean> {
  requireArrow(ARROWS, { what: "A session", from: row.state, to });
  return compareAndSet(tx, "sessions", row, { ...changes, state: to });
}

/** Ends a start that failed. The session bills nothing, and the reconciler throws its instance away. */
export function failSession(
  tx: Tx,
  session: Pick<SessionRow, "id" | "state" | "version">,
  { reason, nowMs }: { reason: string; nowMs: number },
): Promise<boolean> {
  return moveSession(tx, session, {
    to: "failed",
    changes: { endedAt: nowMs, endReason: reason, body: null },
  });
}
