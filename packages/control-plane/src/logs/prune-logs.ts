import type { Store } from "../store/store.ts";

export interface PruneOptions {
  nowMs: number;
  /** @default 7 days */
  retentionMs?: number;
}

export const LOG_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
const ROWS_PER_DELETE = 2_000; // short transactions, so that sessions do not wait for it

/** Removes lines older than the retention, and notes about instances long gone. Returns how many lines. */
export async function pruneLogs(
  store: Store,
  { nowMs, retentionMs = LOG_RETENTION_MS }: PruneOptions,
): Promise<number> {
  const oldest = nowMs - retentionMs;
  let removed = 0;
  for (;;) {
    const { numDeletedRows } = await store.db
      .deleteFrom("logLines")
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple("instanceId", "position"),
          "in",
          selectFrom("logLines")
            .select(["instanceId", "position"])
            .where("at", "<", oldest)
            .limit(ROWS_PER_DELETE)
            .$asTuple("instanceId", "position"),
        ),
      )
      .executeTakeFirst();
    removed += Number(numDeletedRows);
    if (numDeletedRows < ROWS_PER_DELETE) break;
  }
  await store.db
    .deleteFrom("outputCursors")
    .where("updatedAt", "<", oldest)
    .where("instanceId", "not in", ({ selectFrom }) =>
      selectFrom("instances").select("id").where("state", "not in", ["stopped", "lost"]),
    )
    .execute();
  return removed;
}
