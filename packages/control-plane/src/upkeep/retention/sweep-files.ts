import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectStore } from "../../builds/object-store/object-store.ts";
import type { Log } from "@vocalhost/base/log";
import { removeTree } from "@vocalhost/base/remove-tree";
import { STORE_ID_FILE, type StoreIdentity } from "@vocalhost/store/identity";
import { DAY_MS } from "./retention.ts";

/** A folder or bucket of files named after rows, with a place for files whose row is gone. */
export interface SweptPlace {
  /** For the log. */
  name: string;
  files(): AsyncIterable<SweptFile>;
  aside(): AsyncIterable<SweptFile>;
  moveAside(name: string, nowMs: number): Promise<void>;
  putBack(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  removeAside(name: string): Promise<void>;
}

interface SweptFile {
  name: string;
  /** Time of its writing, or of its move. */
  atMs: number;
}

export interface SweepOptions {
  known: ReadonlySet<string>;
  /** Ids whose rows existed and were deleted: no other store uses their files. */
  deleted: ReadonlySet<string>;
  /** False: only moves back files whose rows exist after all. */
  removes: boolean;
  /** Retention of files that were moved aside. */
  keptMs: number;
  nowMs: number;
  log: Log;
}

const REMOVED = "removed"; // a folder, and the prefix in a bucket
const YOUNG_MS = DAY_MS; // a folder may exist a moment before its row

/** Moves files without a row aside and removes them later. A file that cannot be moved does not stop the others. */
export async function sweep(place: SweptPlace, options: SweepOptions): Promise<void> {
  const { known, deleted, removes, keptMs, nowMs, log } = options;
  const each = async (files: AsyncIterable<SweptFile>, treat: (file: SweptFile) => Promise<unknown>) => {
    for await (const file of files)
      await treat(file).catch((error: unknown) =>
        log.warn({ err: error, place: place.name, name: file.name }, "old files could not be removed"),
      );
  };
  await each(place.aside(), async ({ name, atMs }) => {
    if (known.has(idOf(name))) {
      await place.putBack(name);
      log.warn({ place: place.name, name }, "files that were moved aside are known again and were put back");
    } else if (removes && atMs < nowMs - keptMs) {
      await place.removeAside(name);
      log.info({ place: place.name, name }, "files that no row knows removed");
    }
  });
  if (!removes) return;
  await each(place.files(), async ({ name, atMs }) => {
    const id = idOf(name);
    if (known.has(id)) return;
    if (deleted.has(id)) return place.remove(name);
    if (atMs >= nowMs - YOUNG_MS) return;
    await place.moveAside(name, nowMs);
    log.warn({ place: place.name, name, keptDays: keptMs / DAY_MS }, "files that no row knows moved aside");
  });
}

/** Files are named after the row; a leading dot marks an unfinished one. */
function idOf(name: string): string {
  return name.replace(/^\./, "").split(".", 1)[0] ?? "";
}

export function placeInFolder(dataFolder: string, name: string): SweptPlace {
  const folder = join(dataFolder, name);
  const removed = join(dataFolder, REMOVED, name);
  async function* filesIn(path: string) {
    if (!existsSync(path)) return;
    for (const each of await readdir(path)) {
      const found = await stat(join(path, each)).catch(() => undefined); // a broken link belongs to no row
      yield { name: each, atMs: found?.mtimeMs ?? 0 };
    }
  }
  return {
    name: folder,
    files: () => filesIn(folder),
    aside: () => filesIn(removed),
    async moveAside(each, nowMs) {
      await mkdir(removed, { recursive: true, mode: 0o700 });
      await utimes(join(folder, each), nowMs / 1_000, nowMs / 1_000); // the retention starts now
      await rename(join(folder, each), join(removed, each));
    },
    async putBack(each) {
      if (existsSync(join(folder, each))) return removeTree(join(removed, each));
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await rename(join(removed, each), join(folder, each));
    },
    remove: (each) => removeTree(join(folder, each)),
    removeAside: (each) => removeTree(join(removed, each)),
  };
}

export function placeInObjectStore(objectStore: ObjectStore, name: string): SweptPlace {
  const [folder, removed] = [`${name}/`, `${REMOVED}/${name}/`];
  async function* objectsIn(prefix: string) {
    for await (const { key, putAtMs } of objectStore.list(prefix))
      yield { name: key.slice(prefix.length), atMs: putAtMs };
  }
  return {
    name: `bucket: ${name}`,
    files: () => objectsIn(folder),
    aside: () => objectsIn(removed),
    moveAside: (each) => objectStore.move(`${folder}${each}`, `${removed}${each}`),
    putBack: (each) => objectStore.move(`${removed}${each}`, `${folder}${each}`),
    remove: (each) => objectStore.remove(`${folder}${each}`),
    removeAside: (each) => objectStore.remove(`${removed}${each}`),
  };
}

/**
 * Returns whether the bucket belongs to our store. An unmarked bucket does if it is empty or holds a known build. A
 * bucket with the mark of the store that ours was copied from does since the copy.
 */
export async function isOwnObjectStore(
  objectStore: ObjectStore,
  options: {
    identity: StoreIdentity;
    dataFolder: string;
    knownBuilds: ReadonlySet<string>;
    log: Log;
  },
): Promise<boolean> {
  const { identity, dataFolder } = options;
  const mark = await readObjectStoreMark(objectStore, dataFolder);
  if (mark === identity.id) return true;
  if (
    mark === undefined
      ? await hasOnlyForeignBuilds(objectStore, options.knownBuilds)
      : mark !== identity.before
  ) {
    options.log.warn(
      { mark, own: identity.id },
      `the bucket belongs to another store, nothing is removed from it; if that store is gone, remove the object ${STORE_ID_FILE}`,
    );
    return false;
  }
  await objectStore.put(STORE_ID_FILE, join(dataFolder, STORE_ID_FILE));
  return true;
}

async function hasOnlyForeignBuilds(objectStore: ObjectStore, known: ReadonlySet<string>): Promise<boolean> {
  let isEmpty = true;
  for await (const { key } of objectStore.list("builds/")) {
    if (known.has(idOf(key.slice("builds/".length)))) return false;
    isEmpty = false;
  }
  return !isEmpty;
}

async function readObjectStoreMark(
  objectStore: ObjectStore,
  dataFolder: string,
): Promise<string | undefined> {
  const file = join(dataFolder, `.${STORE_ID_FILE}-of-bucket`);
  try {
    return (await objectStore.fetch(STORE_ID_FILE, file)) ? (await readFile(file, "utf8")).trim() : undefined;
  } finally {
    await rm(file, { force: true });
  }
}
