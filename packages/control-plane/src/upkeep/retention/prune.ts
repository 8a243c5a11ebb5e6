import type { ObjectStore } from "../../builds/object-store/object-store.ts";
import type { Log } from "@vocalhost/base/log";
import { pruneLogs } from "../../logs/prune-logs.ts";
import { pruneSamples } from "../../usage/samples.ts";
import { pruneSecretVersions } from "../../secrets/prune-versions.ts";
import { deleteOlder } from "@vocalhost/store/delete-older";
import type { StoreIdentity } from "@vocalhost/store/identity";
import type { Store } from "@vocalhost/store/store";
import { deleteInBatches } from "./delete-in-batches.ts";
import { pruneBuilds } from "./prune-builds.ts";
import { pruneImages, type KeepImages } from "./prune-images.ts";
import { pruneHistory } from "./prune-history.ts";
import { DAY_MS, type Retention } from "./retention.ts";

export interface PruneAllOptions {
  nowMs: number;
  retention: Retention;
  idempotencyMs: number;
  dataFolder: string;
  identity: StoreIdentity;
  /** False while this may be the wrong store: files and images unknown to it then stay. */
  removesFiles: boolean;
  log: Log;
  objectStore?: ObjectStore | undefined;
  /** Set if instances run from images. */
  keepImages?: KeepImages | undefined;
}

/**
 * Prunes everything that grows and logs the result. A failure does not stop the other steps, and is thrown at the
 * end.
 */
export async function prune(store: Store, options: PruneAllOptions): Promise<void> {
  const { nowMs, retention, log } = options;
  const failures: unknown[] = [];
  async function apart<T>(run: () => Promise<T>): Promise<T | undefined> {
    return run().catch((error: unknown) => void failures.push(error));
  }
  const logLines = await apart(() => pruneLogs(store, { nowMs, retentionMs: retention.logDays * DAY_MS }));
  await apart(() => pruneSamples(store, { nowMs }));
  const secretVersions = await apart(() => pruneSecretVersions(store, { nowMs }));
  await apart(() =>
    deleteInBatches(store, "usedTokens", (db, limit) =>
      db.selectFrom("usedTokens").select("id").where("expiresAt", "<", nowMs).limit(limit).execute(),
    ),
  );
  // Keys of requests so old that no client repeats them.
  const beforeMs = nowMs - options.idempotencyMs;
  await apart(() =>
    deleteOlder(store, { table: "idempotency", key: ["organizationId", "key"], age: "createdAt", beforeMs }),
  );
  const history = await apart(() => pruneHistory(store, { nowMs, retention }));
  const builds = await apart(() => pruneBuilds(store, options));
  const images = await imagesOf(store, options);
  const removed = { logLines, secretVersions, ...history, builds, images };
  if (Object.values(removed).some((count) => (count ?? 0) > 0)) log.info(removed, "old records removed");
  await apart(() => store.compact());
  if (failures.length > 0) throw failures[0];
}

/** An unreachable engine does not stop the other steps. */
async function imagesOf(
  store: Store,
  { nowMs, keepImages, removesFiles, log }: PruneAllOptions,
): Promise<number> {
  if (!keepImages || !removesFiles) return 0;
  return pruneImages(store, { nowMs, keepOnly: keepImages }).catch((error: unknown) => {
    log.warn({ err: error }, "old images could not be removed");
    return 0;
  });
}
