import { type Arrows, compareAndSet, requireArrow, requireSet } from "@vocalhost/store/move-row";
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

/** Whether it was done; false if the row has changed since it was read. Throws on an arrow that is not drawn. */
export async function moveSession(
  tx: Tx,
  row: Pick<SessionRow, "id" | "state" | "version">,
  { to, changes }: SessionMove,
): Promise<boolean> {
  requireArrow(ARROWS, { what: "A session", from: row.state, to });
  return compareAndSet(tx, "sessions", row, { ...changes, state: to });
}

/** The same where the row must be as it was read; what `otherwise` gives fails the transaction, at the latest when it commits. */
export async function requireSessionMove(
  tx: Tx,
  row: Pick<SessionRow, "id" | "state" | "version">,
  { to, changes, otherwise }: SessionMove & { otherwise(): Error },
): Promise<void> {
  requireArrow(ARROWS, { what: "A session", from: row.state, to });
  await requireSet(tx, "sessions", { row, changes: { ...changes, state: to }, otherwise });
}
