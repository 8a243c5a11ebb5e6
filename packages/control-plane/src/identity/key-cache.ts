import type { Clock } from "@vocalhost/base/clock";
import type { ApiKeyRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";

/** Revocation must work in every process within a second, so answers are cached for less. */
const REMEMBERED_MS = 900;
const REMEMBERED_MAX = 10_000;
const LAST_USED_EVERY_MS = 60_000;

/** Finds keys by their hash and caches them for less than a second. */
export interface KeyCache extends AsyncDisposable {
  find(sha256: string): Promise<ApiKeyRow | undefined>;
  forget(sha256: string): void;
}

export function createKeyCache({ store, clock }: { store: Store; clock: Clock }): KeyCache {
  const found = new Map<string, { row: ApiKeyRow; until: number }>();
  let forgotten = 0;
  const usedAt = new Map<string, number>();
  const writing = new Set<Promise<void>>();

  function noteUse(row: ApiKeyRow): void {
    const nowMs = clock.nowMs();
    if (nowMs - (usedAt.get(row.id) ?? row.lastUsedAt ?? 0) < LAST_USED_EVERY_MS) return;
    if (usedAt.size >= REMEMBERED_MAX) usedAt.clear();
    usedAt.set(row.id, nowMs);
    // No request waits for this write, and a failure refuses none.
    const write = writeLastUsed(store, row.id, nowMs).catch(() => undefined);
    writing.add(write);
    void write.finally(() => writing.delete(write));
  }

  return {
    async find(sha256) {
      // Taken before the query, so that its duration counts.
      const askedAt = clock.monotonicMs();
      const forgottenBefore = forgotten;
      const known = found.get(sha256);
      if (known && known.until > askedAt) {
        noteUse(known.row);
        return known.row;
      }
      found.delete(sha256);
      const row = await store.db
        .selectFrom("apiKeys")
        .selectAll()
        .where("sha256", "=", sha256)
        .executeTakeFirst();
      if (!row) return undefined;
      if (found.size >= REMEMBERED_MAX) found.clear();
      // A row read before a revocation must not be cached after it.
      if (forgotten === forgottenBefore) found.set(sha256, { row, until: askedAt + REMEMBERED_MS });
      noteUse(row);
      return row;
    },
    forget(sha256) {
      forgotten += 1;
      found.delete(sha256);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(writing);
    },
  };
}

async function writeLastUsed(store: Store, id: string, nowMs: number): Promise<void> {
  await store.db.updateTable("apiKeys").set({ lastUsedAt: nowMs }).where("id", "=", id).execute();
}
