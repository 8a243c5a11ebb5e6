import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "@vocalhost/base/config-error";
import type { Db, Store } from "./store.ts";

/** Says whose data folder or bucket it lies in: the id of a store. */
export const STORE_ID_FILE = "store-id";

const SETTING = "store-id";
const BEFORE_SETTING = "store-id-before";
const OWNED_FILES = [STORE_ID_FILE, "master-keys", "service-secret", "first-run.json"];
const BUILDS_FOLDER = "builds";
const SQLITE_FILE = "vocalhost.db";

export interface StoreIdentity {
  id: string;
  /** The id of the store that this one was copied from and replaces. */
  before: string | undefined;
}

export interface DataFolder {
  dataFolder: string;
  databaseUrl?: string | undefined;
}

/** A SQLite file that is missing would be made anew, beside what the missing one knows. */
export async function refuseMissingStore(folder: DataFolder): Promise<void> {
  if (folder.databaseUrl !== undefined) return;
  const file = await stat(join(folder.dataFolder, SQLITE_FILE)).catch(() => undefined);
  if (!file?.size) await refuseUsedFolder(folder);
}

/**
 * Gives the id of the store, which from now on is the data folder's too. Refuses a folder of another store: what the store
 * does not know would be removed, and the keys in the folder are not the store's.
 */
export async function claimDataFolder(store: Store, folder: DataFolder): Promise<StoreIdentity> {
  const { dataFolder } = folder;
  const known = await readIdentity(store.db);
  const mark = await readMark(dataFolder);
  const isNew = !known && !(await hasOrganizations(store.db));
  if (isNew) await refuseUsedFolder(folder);
  else if (mark === undefined ? await knowsNoBuild(store.db, dataFolder) : mark !== known?.id)
    throw new ConfigError(
      `${dataFolder} belongs to another store than ${nameOf(folder)}. ` +
        `Set VOCALHOST_DATABASE_URL to that store's database (for a SQLite store, remove the setting), or give this store another data folder: VOCALHOST_DATA_DIR`,
    );
  const identity = known ?? (await makeIdentity(store));
  if (mark === undefined) await writeMark(dataFolder, identity.id);
  return identity;
}

/** Gives a copied store an id of its own. The copy replaces its source; a restored backup may run beside it. */
export async function renewIdentity(db: Db, kind: "replaces" | "beside"): Promise<string> {
  const before = await readIdentity(db);
  const id = randomUUID();
  await db.deleteFrom("settings").where("name", "in", [SETTING, BEFORE_SETTING]).execute();
  await db.insertInto("settings").values({ name: SETTING, value: id }).execute();
  if (before && kind === "replaces")
    await db.insertInto("settings").values({ name: BEFORE_SETTING, value: before.id }).execute();
  return id;
}

export async function writeMark(dataFolder: string, id: string): Promise<void> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const path = join(dataFolder, STORE_ID_FILE);
  await writeFile(`${path}.new`, `${id}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

async function readMark(dataFolder: string): Promise<string | undefined> {
  const path = join(dataFolder, STORE_ID_FILE);
  return existsSync(path) ? (await readFile(path, "utf8")).trim() : undefined;
}

async function readIdentity(db: Db): Promise<StoreIdentity | undefined> {
  const rows = await db
    .selectFrom("settings")
    .selectAll()
    .where("name", "in", [SETTING, BEFORE_SETTING])
    .execute();
  const valueOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value;
  const id = valueOf(SETTING);
  return id === undefined ? undefined : { id, before: valueOf(BEFORE_SETTING) };
}

/** Several controllers may see a new store at the same time. */
async function makeIdentity({ db }: Store): Promise<StoreIdentity> {
  await db
    .insertInto("settings")
    .values({ name: SETTING, value: randomUUID() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await readIdentity(db))!;
}

async function hasOrganizations(db: Db): Promise<boolean> {
  return (await db.selectFrom("organizations").select("id").limit(1).executeTakeFirst()) !== undefined;
}

async function refuseUsedFolder(folder: DataFolder): Promise<void> {
  const { dataFolder } = folder;
  const [found] = [
    ...OWNED_FILES.filter((name) => existsSync(join(dataFolder, name))),
    ...(await buildsIn(dataFolder)).map((id) => join(BUILDS_FOLDER, id)),
  ];
  if (found === undefined) return;
  throw new ConfigError(
    `The store (${nameOf(folder)}) is empty, but ${dataFolder} holds the data of another one (${found}). ` +
      "Set VOCALHOST_DATABASE_URL back to that one (for a move from SQLite to Postgres run vocalhost store copy first), or begin anew in another data folder: VOCALHOST_DATA_DIR",
  );
}

/** A folder from before there were marks is another store's if this one knows none of its builds. */
async function knowsNoBuild(db: Db, dataFolder: string): Promise<boolean> {
  const ids = await buildsIn(dataFolder);
  if (ids.length === 0) return false;
  const known = new Set((await db.selectFrom("builds").select("id").execute()).map(({ id }) => id));
  return !ids.some((id) => known.has(id));
}

async function buildsIn(dataFolder: string): Promise<string[]> {
  const names = await readdir(join(dataFolder, BUILDS_FOLDER)).catch(() => []);
  return names.filter((name) => !name.startsWith("."));
}

// The address of a Postgres may hold a password.
function nameOf({ databaseUrl, dataFolder }: DataFolder): string {
  return databaseUrl === undefined ? join(dataFolder, SQLITE_FILE) : "the database of VOCALHOST_DATABASE_URL";
}
