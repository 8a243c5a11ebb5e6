import { ROWS_PER_DELETE } from "@vocalhost/store/delete-older";
import type { Schema } from "@vocalhost/store/schema";
import type { Db, Store } from "@vocalhost/store/store";

type TableWithId =
  | "sessions"
  | "instances"
  | "deployments"
  | "agents"
  | "builds"
  | "audit"
  | "outbox"
  | "apiKeys"
  | "uploads"
  | "usedTokens";

/**
 * Deletes the rows that `find` returns, a batch at a time, until it returns none. Each call of `find` may scan
 * everything. Returns the ids.
 */
export async function deleteInBatches(
  store: Store,
  table: TableWithId,
  find: (db: Db, limit: number) => Promise<{ id: Schema[TableWithId]["id"] }[]>,
): Promise<string[]> {
  const deleted: string[] = [];
  for (;;) {
    const ids = (await find(store.search, ROWS_PER_DELETE)).map(({ id }) => id);
    if (ids.length > 0) await store.db.deleteFrom(table).where("id", "in", ids).execute();
    deleted.push(...ids);
    if (ids.length < ROWS_PER_DELETE) return deleted;
  }
}
