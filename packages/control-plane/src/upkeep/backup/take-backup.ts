import { packTar, type TarSource } from "modern-tar/fs";
import { createWriteStream, existsSync } from "node:fs";
import { mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { makeAuthTables } from "../../identity/auth-library.ts";
import { LINKED_SDK } from "../../builds/link-sdk.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { copyStore } from "@vocalhost/store/copy-store";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import { holderName, isHolderDead } from "@vocalhost/store/leadership/holder";
import { systemClock } from "@vocalhost/base/system-clock";
import { VERSION } from "@vocalhost/base/version";
import {
  BUILDS_FOLDER,
  DATABASE_FILE,
  KEY_FILES,
  MANIFEST_FILE,
  type BackupManifest,
  type BackedUpService,
} from "./backup-manifest.ts";
import { sha256OfFile } from "./sha256-of-file.ts";

const STAGING = ".vocalhost-backup-";
const HOLDER_FILE = "holder";
const UNSIGNED_MS = 86_400_000; // for files of earlier releases, or of a backup killed early

export interface BackupOptions {
  config: BackedUpService;
  /** The archive to write; must not exist. */
  file: string;
  now: Date;
  progress(text: string): void;
}

export interface TakenBackup {
  file: string;
  bytes: number;
  manifest: BackupManifest;
}

/** Writes a consistent archive of everything needed to run the service elsewhere. The service may be running. */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const { config, progress } = options;
  const file = resolve(options.file);
  if (existsSync(file)) throw new ConfigError(`${file} exists already; backups never overwrite anything`);
  await removeLeftovers(dirname(file));
  const staging = await mkdtemp(join(dirname(file), STAGING)).catch((cause: unknown) => {
    throw new ConfigError(`Nothing can be written into ${dirname(file)}`, { cause });
  });
  const partial = join(staging, "archive");
  try {
    await writeFile(join(staging, HOLDER_FILE), holderName());
    progress("copying the database");
    const database = join(staging, DATABASE_FILE);
    await snapshot(config, database, progress);
    const manifest = await describe(database, options.now);
    progress(`packing ${manifest.builds.length} builds`);
    const sources = [
      ...sourcesOf(config.dataFolder, manifest),
      { type: "file" as const, source: database, target: DATABASE_FILE, mode: 0o600 },
      { type: "content" as const, content: JSON.stringify(manifest, null, 2), target: MANIFEST_FILE },
    ];
    await pipeline(
      packTar(sources, { filter: (path) => !path.endsWith(`/${LINKED_SDK}`) }),
      createGzip({ level: 1 }), // mostly code, and calls need the CPU
      createWriteStream(partial, { mode: 0o600 }),
    );
    await sync(partial);
    await rename(partial, file);
    await sync(dirname(file));
    return { file, bytes: (await stat(file)).size, manifest };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Removes files that a killed backup has left in this folder. Files of a live process belong to a running backup. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(STAGING)) continue;
    const path = join(folder, name);
    const holder = await readFile(join(path, HOLDER_FILE), "utf8").catch(() => undefined);
    const isOver =
      holder === undefined
        ? (await stat(path)).mtimeMs < systemClock.nowMs() - UNSIGNED_MS
        : isHolderDead(holder);
    if (isOver) await rm(path, { recursive: true, force: true });
  }
}

async function snapshot(
  { dataFolder, databaseUrl }: BackupOptions["config"],
  target: string,
  progress: (text: string) => void,
): Promise<void> {
  if (databaseUrl === undefined) {
    const source = join(dataFolder, DATABASE_FILE);
    if (!existsSync(source)) throw new ConfigError(`There is no service in ${dataFolder} to back up`);
    using database = new DatabaseSync(source, { readOnly: true, timeout: 30_000 });
    database.prepare("vacuum into ?").run(target); // one read transaction: writers go on
    return;
  }
  await using from = await openPostgresStore({ url: databaseUrl });
  await using to = await openSqliteStore({ file: target, reserveBytes: 0 });
  await makeAuthTables(to);
  await copyStore({ from, to, progress: (table, rows) => progress(`copying ${table}: ${rows} rows`) });
}

async function describe(database: string, now: Date): Promise<BackupManifest> {
  using opened = new DatabaseSync(database, { readOnly: true });
  const count = (table: string): number =>
    Number(opened.prepare(`select count(*) as count from ${table}`).get()?.["count"]);
  const builds = opened.prepare("select id from builds where status = 'success' order by id").all();
  return {
    format: 1,
    version: VERSION,
    createdAt: now.toISOString(),
    databaseSha256: await sha256OfFile(database),
    sessions: count("sessions"),
    agents: count("agents"),
    builds: builds.map(({ id }) => String(id)),
  };
}

function sourcesOf(dataFolder: string, { builds }: BackupManifest): TarSource[] {
  const keys = KEY_FILES.filter((name) => existsSync(join(dataFolder, name)));
  const present = builds.filter((id) => existsSync(join(dataFolder, BUILDS_FOLDER, id)));
  return [
    ...keys.map((name): TarSource => {
      return { type: "file", source: join(dataFolder, name), target: name, mode: 0o600 };
    }),
    ...present.map((id): TarSource => {
      const source = join(dataFolder, BUILDS_FOLDER, id);
      return { type: "directory", source, target: `${BUILDS_FOLDER}/${id}` };
    }),
  ];
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}
