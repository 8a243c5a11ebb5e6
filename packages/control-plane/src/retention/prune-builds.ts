import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Depot } from "../depot/depot.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";
import { neededBuilds } from "./prune-history.ts";
import { deleteInBatches } from "./delete-in-batches.ts";
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
  const needed = await neededBuilds(store.db);
  const old = await store.db
    .selectFrom("builds")
    .select(["id", "imageUri", "status"])
    .where("status", "in", ["success", "failed", "timeout"])
    .where("updatedAt", "<", beforeMs)
    .execute();
  const unneeded = old
    .filter(({ id, imageUri }) => !needed.has(id) && (imageUri === null || !needed.has(imageUri)))
    .map(({ id }) => ({ id }));
  const deleted = await deleteInBatches(store, "builds", async (_db, limit) => unneeded.splice(0, limit));
  await deleteInBatches(store, "uploads", (db, limit) =>
    db
      .selectFrom("uploads")
      .select("id")
      .where("expiresAt", "<", beforeMs)
      .where("id", "not in", (from) => from.selectFrom("builds").select("uploadId"))
      .limit(limit)
      .execute(),
  );
  for (const table of ["builds", "uploads"] as const) {
    await sweep(store, options, table);
    if (options.depot) await sweepDepot(store, { ...options, depot: options.depot }, table);
  }
  return deleted.length;
}

type Swept = "builds" | "uploads";

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
  { dataFolder, nowMs, log }: BuildPruneOptions,
  swept: Swept,
): Promise<void> {
  const folder = join(dataFolder, swept);
  if (!existsSync(folder)) return;
  const known = await knownIds(store, swept);
  for (const name of await readdir(folder)) {
    if (known.has(idOf(name))) continue;
    const path = join(folder, name);
    try {
      if ((await stat(path)).mtimeMs < nowMs - YOUNG_MS) await rm(path, { recursive: true, force: true });
    } catch (error) {
      log.warn({ err: error, path }, "old files could not be removed");
    }
  }
}

/** The same in the depot; one that is away keeps nothing else from being cut back. */
async function sweepDepot(
  store: Store,
  { depot, nowMs, log }: BuildPruneOptions & { depot: Depot },
  swept: Swept,
): Promise<void> {
  try {
    const known = await knownIds(store, swept);
    for await (const { key, putAtMs } of depot.list(`${swept}/`)) {
      const isNeeded = known.has(idOf(key.slice(swept.length + 1)));
      if (!isNeeded && putAtMs < nowMs - YOUNG_MS) await depot.remove(key);
    }
  } catch (error) {
    log.warn({ err: error }, "old uploads and builds could not be removed from the bucket");
  }
}
