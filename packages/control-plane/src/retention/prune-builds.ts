import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Depot } from "../depot/depot.ts";
import type { Log } from "../log.ts";
import { removeTree } from "../remove-tree.ts";
import type { Store } from "../store/store.ts";
import { deleteInBatches } from "./delete-in-batches.ts";
import { namedByDeployments, releasedBeforeMs } from "./needed-builds.ts";
import { DAY_MS, type Retention } from "./retention.ts";

export interface BuildPruneOptions {
  nowMs: number;
  retention: Retention;
  dataFolder: string;
  log: Log;
  depot?: Depot | undefined;
}

const YOUNG_MS = DAY_MS; // a folder may be there a moment before its row says so

/** Builds that no deployment can ask for any more, with their logs, folders and uploads. Answers how many. */
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
  for (const table of ["builds", "uploads"] as const) {
    await sweep(store, { ...options, deleted }, table);
    if (options.depot) await sweepDepot(store, { ...options, deleted, depot: options.depot }, table);
  }
  return deleted.size;
}

/** Those of deleted agents at once, so that the organisation has its share of the disk back; others when they are old. */
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
    // Unless somebody has just asked for it again.
    const still = db.deleteFrom("builds").where("id", "=", id).where("updatedAt", "<", youngFromMs);
    const { numDeletedRows } = await still.executeTakeFirstOrThrow();
    if (numDeletedRows > 0n) deleted.push(id);
  }
  return deleted;
}

type Swept = "builds" | "uploads";

interface SweepOptions extends BuildPruneOptions {
  /** Their rows were there and are gone: however young their files are, no row will come. */
  deleted: ReadonlySet<string>;
}

/** Files are named after the row; a dot before it says that they are not finished. */
function idOf(name: string): string {
  return name.replace(/^\./, "").split(".", 1)[0] ?? "";
}

async function knownIds(store: Store, table: Swept): Promise<Set<string>> {
  const rows = await store.db.selectFrom(table).select("id").execute();
  return new Set(rows.map(({ id }) => id));
}

/** Files whose row is gone, from now or from a crash. One that cannot be removed keeps none of the others. */
async function sweep(
  store: Store,
  { dataFolder, nowMs, log, deleted }: SweepOptions,
  swept: Swept,
): Promise<void> {
  const folder = join(dataFolder, swept);
  if (!existsSync(folder)) return;
  const known = await knownIds(store, swept);
  for (const name of await readdir(folder)) {
    if (known.has(idOf(name))) continue;
    const path = join(folder, name);
    try {
      const isOver = deleted.has(idOf(name)) || (await stat(path)).mtimeMs < nowMs - YOUNG_MS;
      if (isOver) await removeTree(path);
    } catch (error) {
      log.warn({ err: error, path }, "old files could not be removed");
    }
  }
}

/** The same in the depot; one that is away keeps nothing else from being cut back. */
async function sweepDepot(
  store: Store,
  { depot, nowMs, log, deleted }: SweepOptions & { depot: Depot },
  swept: Swept,
): Promise<void> {
  try {
    const known = await knownIds(store, swept);
    for await (const { key, putAtMs } of depot.list(`${swept}/`)) {
      const id = idOf(key.slice(swept.length + 1));
      if (known.has(id)) continue;
      if (deleted.has(id) || putAtMs < nowMs - YOUNG_MS) await depot.remove(key);
    }
  } catch (error) {
    log.warn({ err: error }, "old uploads and builds could not be removed from the bucket");
  }
}
