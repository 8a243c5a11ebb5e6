import type { ObjectStore } from "../../builds/object-store/object-store.ts";
import type { Log } from "@vocalhost/base/log";
import type { StoreIdentity } from "@vocalhost/store/identity";
import type { Store } from "@vocalhost/store/store";
import { deleteInBatches } from "./delete-in-batches.ts";
import { namedByDeployments, releasedBeforeMs } from "./needed-builds.ts";
import { DAY_MS, type Retention } from "./retention.ts";
import {
  isOwnObjectStore,
  placeInObjectStore,
  placeInFolder,
  sweep,
  type SweptPlace,
} from "./sweep-files.ts";

export interface BuildPruneOptions {
  nowMs: number;
  retention: Retention;
  dataFolder: string;
  identity: StoreIdentity;
  removesFiles: boolean;
  log: Log;
  objectStore?: ObjectStore | undefined;
}

/** Deletes builds that no deployment can request any more, with their logs, folders and uploads. Returns how many. */
export async function pruneBuilds(store: Store, options: BuildPruneOptions): Promise<number> {
  const beforeMs = options.nowMs - options.retention.debrisDays * DAY_MS;
  const unneeded = await deleteUnneeded(store, { nowMs: options.nowMs, beforeMs });
  await deleteInBatches(store, "uploads", (db, limit) =>
    db
      .selectFrom("uploads")
      .select("id")
      .where("expiresAt", "<", beforeMs)
      .where("id", "not in", (from) => from.selectFrom("builds").select("uploadId"))
      .limit(limit)
      .execute(),
  );
  const deleted = new Set(unneeded);
  await sweepAll(store, options, deleted);
  return deleted.size;
}

/** An unreadable folder or an unreachable bucket does not stop the others from being swept. */
async function sweepAll(
  store: Store,
  options: BuildPruneOptions,
  deleted: ReadonlySet<string>,
): Promise<void> {
  const { nowMs, retention, removesFiles: removes, objectStore, log } = options;
  const keptMs = retention.debrisDays * DAY_MS;
  const sweepEach = async (toPlace: (table: SweptTable) => SweptPlace): Promise<void> => {
    for (const table of ["builds", "uploads"] as const) {
      const known = await knownIds(store, table);
      await sweep(toPlace(table), { known, deleted, removes, keptMs, nowMs, log });
    }
  };
  await sweepEach((table) => placeInFolder(options.dataFolder, table));
  if (!objectStore) return;
  try {
    const knownBuilds = await knownIds(store, "builds");
    if (await isOwnObjectStore(objectStore, { ...options, knownBuilds }))
      await sweepEach((table) => placeInObjectStore(objectStore, table));
  } catch (error) {
    log.warn({ err: error }, "old uploads and builds could not be removed from the bucket");
  }
}

/**
 * Deletes those of deleted agents immediately, which frees the organisation's disk quota; others once they are old.
 */
async function deleteUnneeded(
  store: Store,
  { nowMs, beforeMs }: { nowMs: number; beforeMs: number },
): Promise<string[]> {
  const youngFromMs = releasedBeforeMs(nowMs);
  const { db } = store;
  const named = await namedByDeployments(store, nowMs);
  const finished = await db
    .selectFrom("builds")
    .select(["id", "imageUri", "updatedAt"])
    .where("status", "in", ["success", "failed", "timeout"])
    .where("updatedAt", "<", youngFromMs)
    .execute();
  const unneeded = finished.filter(({ id, imageUri, updatedAt }) => {
    const isIn = (names: Set<string>): boolean => names.has(id) || (imageUri !== null && names.has(imageUri));
    return !isIn(named.builds) && (updatedAt < beforeMs || isIn(named.released));
  });
  const deleted: string[] = [];
  for (const { id } of unneeded) {
    // A request may have renewed the build meanwhile.
    const still = db.deleteFrom("builds").where("id", "=", id).where("updatedAt", "<", youngFromMs);
    const { numDeletedRows } = await still.executeTakeFirstOrThrow();
    if (numDeletedRows > 0n) deleted.push(id);
  }
  return deleted;
}

type SweptTable = "builds" | "uploads";

async function knownIds(store: Store, table: SweptTable): Promise<Set<string>> {
  const rows = await store.db.selectFrom(table).select("id").execute();
  return new Set(rows.map(({ id }) => id));
}
