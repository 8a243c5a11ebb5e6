import { unpackTar } from "modern-tar/fs";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { makeAuthTables } from "../../identity/auth-library.ts";
import { LINKED_SDK } from "../../builds/link-sdk.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { copyStore } from "@vocalhost/store/copy-store";
import { renewIdentity, STORE_ID_FILE, writeMark } from "@vocalhost/store/identity";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import {
  BackupManifest,
  BUILDS_FOLDER,
  DATABASE_FILE,
  KEY_FILES,
  MANIFEST_FILE,
  RESTORING_FOLDER,
  type BackedUpService,
} from "./backup-manifest.ts";
import { sha256OfFile } from "./sha256-of-file.ts";

export interface RestoreOptions {
  config: BackedUpService;
  file: string;
  /** The service's own copy of the package `vocalhost`. */
  sdkFolder: string;
  progress(text: string): void;
}

const RESTORED = [...KEY_FILES, STORE_ID_FILE, BUILDS_FOLDER, DATABASE_FILE];
/**
 * A journal left behind by a database that was moved away. SQLite would write its pages over those of the restored
 * one.
 */
const JOURNAL_FILE = `${DATABASE_FILE}-wal`;

/** Restores into a data folder without data. After an interruption it can be run again. */
export async function restoreBackup(options: RestoreOptions): Promise<BackupManifest> {
  const { config, file, progress } = options;
  const { dataFolder } = config;
  if (!existsSync(file)) throw new ConfigError(`There is no file ${file}`);
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const staging = join(dataFolder, RESTORING_FOLDER);
  // An earlier attempt began with a folder without data, so the existing files are its own.
  if (existsSync(staging))
    for (const name of RESTORED) await rm(join(dataFolder, name), { recursive: true, force: true });
  requireNoData(dataFolder);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  try {
    progress("unpacking");
    await unpack(file, staging);
    const manifest = await readWhole(file, staging);
    await linkSdk(staging, options.sdkFolder);
    await identify(staging);
    if (config.databaseUrl !== undefined) await fillDatabase(config.databaseUrl, staging, progress);
    progress("moving into place");
    // Moves the database last: with it the folder counts as a service's.
    for (const name of RESTORED)
      if (existsSync(join(staging, name))) await rename(join(staging, name), join(dataFolder, name));
    await rm(staging, { recursive: true });
    return manifest;
  } catch (error) {
    if (error instanceof ConfigError) await rm(staging, { recursive: true, force: true }); // no file was moved yet
    throw error;
  }
}

/** Throws if the data folder holds an unfinished restore. */
export function refuseUnfinishedRestore(dataFolder: string): void {
  if (existsSync(join(dataFolder, RESTORING_FOLDER)))
    throw new ConfigError(
      `A restore into ${dataFolder} did not finish. Run vocalhost restore again with the same backup.`,
    );
}

function requireNoData(dataFolder: string): void {
  const found = [...RESTORED, JOURNAL_FILE].find((name) => existsSync(join(dataFolder, name)));
  if (found !== undefined)
    throw new ConfigError(
      `${dataFolder} has data already (${found}). Restore into an empty folder: --data-dir, or move this one away.`,
    );
}

async function unpack(file: string, folder: string): Promise<void> {
  try {
    await pipeline(createReadStream(file), createGunzip(), unpackTar(folder, { strict: true }));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOSPC")
      throw new ConfigError(`The disk of ${dirname(folder)} is full; nothing was restored`, { cause });
    throw new ConfigError(`${file} is not a whole backup: ${String(cause)}`, { cause });
  }
}

async function readWhole(file: string, staging: string): Promise<BackupManifest> {
  const text = await readFile(join(staging, MANIFEST_FILE), "utf8").catch(() => "null");
  const manifest = BackupManifest.safeParse(JSON.parse(text));
  if (!manifest.success) throw new ConfigError(`${file} is not a whole backup of this service`);
  if ((await sha256OfFile(join(staging, DATABASE_FILE))) !== manifest.data.databaseSha256)
    throw new ConfigError(`${file} is damaged: its database is not the one that was backed up`);
  return manifest.data;
}

async function linkSdk(staging: string, sdkFolder: string): Promise<void> {
  const builds = join(staging, BUILDS_FOLDER);
  if (!existsSync(builds)) return;
  for (const id of await readdir(builds)) {
    const link = join(builds, id, LINKED_SDK);
    if (existsSync(link)) continue; // the bot has its own copy
    await mkdir(dirname(link), { recursive: true });
    await symlink(sdkFolder, link);
  }
}

/** Gives the restored store a new identity, because the original service may still run and use its bucket. */
async function identify(staging: string): Promise<void> {
  await using store = await openSqliteStore({ file: join(staging, DATABASE_FILE), reserveBytes: 0 });
  await writeMark(staging, await store.transaction((tx) => renewIdentity(tx, "beside")));
}

async function fillDatabase(url: string, staging: string, progress: (text: string) => void): Promise<void> {
  const file = join(staging, DATABASE_FILE);
  {
    await using from = await openSqliteStore({ file, reserveBytes: 0 });
    await using to = await openPostgresStore({ url });
    await makeAuthTables(to);
    await copyStore({ from, to, progress: (table, rows) => progress(`copying ${table}: ${rows} rows`) });
  }
  await rm(file);
}
