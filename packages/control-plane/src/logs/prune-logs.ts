import { deleteOlder } from "@vocalhost/store/delete-older";
import type { Store } from "@vocalhost/store/store";

export interface PruneOptions {
  nowMs: number;
  /** @default 7 days */
  retentionMs?: number;
}

export const LOG_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

/** Removes lines older than the retention, and notes about instances long gone. Returns how many lines. */
export async function pruneLogs(
  store: Store,
  { nowMs, retentionMs = LOG_RETENTION_MS }: PruneOptions,
): Promise<number> {
  const oldest = nowMs - retentionMs;
  const removed = await deleteOlder(store, {
    table: "logLines",
    key: ["instanceId", "position"],
    age: "at",
    beforeMs: oldest,
  });
  await store.db
    .deleteFrom("outputCursors")
    .where("updatedAt", "<", oldest)
    .where("instanceId", "not in", ({ selectFrom }) =>
      selectFrom("instances").select("id").where("state", "not in", ["stopped", "lost"]),
    )
    .execute();
  return removed;
}
