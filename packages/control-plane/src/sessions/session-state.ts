import type { SessionRow, SessionState } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

const ARROWS: Record<SessionState, readonly SessionState[]> = {
  pending: ["starting", "expired"],
  starting: ["active", "stopping", "failed"],
  active: ["stopping", "ended"],
  stopping: ["ended"],
  ended: [],
  failed: [],
  expired: [],
};

export const OPEN_SESSION_STATES = ["pending", "starting", "active", "stopping"] as const;
/** Hold an instance. */
export const BOUND_SESSION_STATES = ["starting", "active", "stopping"] as const;

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
  move: SessionMove,
): Promise<boolean> {
  if (!ARROWS[row.state].includes(move.to))
    throw new Error(`A session cannot go from ${row.state} to ${move.to}`);
  const { numUpdatedRows } = await tx
    .updateTable("sessions")
    .set({ ...move.changes, state: move.to, version: row.version + 1 })
    .where("id", "=", row.id)
    .where("version", "=", row.version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
