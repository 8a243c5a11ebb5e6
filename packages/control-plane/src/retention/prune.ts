import type { Depot } from "../depot/depot.ts";
import type { Log } from "../log.ts";
import { pruneLogs } from "../logs/prune-logs.ts";
import { pruneSamples } from "../samples/samples.ts";
import { pruneSecretVersions } from "../secrets/prune-versions.ts";
import type { Store } from "../store/store.ts";
import { pruneBuilds } from "./prune-builds.ts";
import { pruneImages, type KeepImages } from "./prune-images.ts";
import { pruneHistory } from "./prune-history.ts";
import { DAY_MS, type Retention } from "./retention.ts";

export interface PruneAllOptions {
  nowMs: number;
  retention: Retention;
  idempotencyMs: number;
  dataFolder: string;
  log: Log;
  depot?: Depot | undefined;
  /** Where instances are made of images. */
  keepImages?: KeepImages | undefined;
}

/** Everything that grows is cut back; what goes is said. */
export async function prune(store: Store, options: PruneAllOptions): Promise<void> {
  const { nowMs, retention, log } = options;
  const logLines = await pruneLogs(store, { nowMs, retentionMs: retention.logDays * DAY_MS });
  await pruneSamples(store, { nowMs });
  const secretVersions = await pruneSecretVersions(store, { nowMs });
  await store.db.deleteFrom("usedTokens").where("expiresAt", "<", nowMs).execute();
  await store.db
    .deleteFrom("idempotency")
    .where("createdAt", "<", nowMs - options.idempotencyMs)
    .execute();
  const history = await pruneHistory(store, { nowMs, retention });
  const builds = await pruneBuilds(store, options);
  const images = await imagesOf(store, options);
  const removed = { logLines, secretVersions, ...history, builds, images };
  if (Object.values(removed).some((count) => count > 0)) log.info(removed, "old records removed");
  await store.compact();
}

/** An engine that is away keeps nothing else from being cut back. */
async function imagesOf(store: Store, { nowMs, keepImages, log }: PruneAllOptions): Promise<number> {
  if (!keepImages) return 0;
  return pruneImages(store, { nowMs, keepOnly: keepImages }).catch((error: unknown) => {
    log.warn({ err: error }, "old images could not be removed");
    return 0;
  });
}
