// Operators' tasks beside the running service: backups, restores, moving to another database. Prints one JSON object
// a line, which `vocalhost backup`, `restore` and `store copy` format for people.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeAuthTables } from "../identity/auth-library.ts";
import { restoreBackup } from "../upkeep/backup/restore-backup.ts";
import { takeBackup } from "../upkeep/backup/take-backup.ts";
import { driversOf, readConfig, type Config } from "./config.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { masterKeyFile } from "./controller/service-secrets.ts";
import { showSettings } from "./show-settings.ts";
import { findSdk } from "./controller/find-sdk.ts";
import { findDriverNetworkPolicy } from "@vocalhost/drivers/open-driver";
import { isHolderDead } from "@vocalhost/store/leadership/holder";
import { measureDataFolder, readDiskSpace } from "../usage/metrics/data-folder.ts";
import { rotateMasterKey } from "../secrets/rotate-master-key.ts";
import { copyStore } from "@vocalhost/store/copy-store";
import { claimDataFolder, renewIdentity, writeMark } from "@vocalhost/store/identity";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import {
  applyNetworkPolicy,
  readNetworkPolicy,
  removeNetworkPolicy,
} from "@vocalhost/drivers/network-policy/apply-rules";
import { tableOf, networkPolicyRules, type NetworkPolicy } from "@vocalhost/drivers/network-policy/rules";

try {
  say({ event: "done", ...(await operate(process.argv.slice(2))) });
} catch (error) {
  const isForPeople = /^(?:Config|NetworkPolicy|DriverUnavailable)Error$/.test((error as Error).name);
  const text = isForPeople ? (error as Error).message : (error as Error).stack;
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

async function operate([what, file = ""]: string[]): Promise<object> {
  if (what === "settings") return showSettings();
  const config = readConfig();
  const progress = (text: string): void => say({ event: "progress", text });
  switch (what) {
    case "backup":
      return takeBackup({ config, file, now: new Date(systemClock.nowMs()), progress });
    case "restore":
      return { manifest: await restoreBackup({ config, file, sdkFolder: findSdk(), progress }) };
    case "copy-store":
      return { tables: await moveToPostgres(config, progress) };
    case "rotate-master-key":
      return rotate(config, progress);
    case "compact-store":
      return compact(config);
    case "check-store":
      return { store: checkSqlite(config) };
    case "disk":
      return diskOf(config);
    case "network-policy":
      return operateNetworkPolicies(config, file);
    default:
      throw new ConfigError(
        "Say what to do: backup <file>, restore <file>, copy-store, compact-store, rotate-master-key, check-store, disk, settings or network-policy show|up|down|state",
      );
  }
}

/** Returns null without a SQLite file. Reads the whole file; the service may be running. */
function checkSqlite({ dataFolder, databaseUrl }: Config): { file: string; problem: string | null } | null {
  const file = join(dataFolder, "vocalhost.db");
  if (databaseUrl !== undefined || !existsSync(file)) return null;
  try {
    using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    const said = String(database.prepare("pragma quick_check(1)").get()?.["quick_check"]);
    return { file, problem: said === "ok" ? null : said.replaceAll("\n", " ") };
  } catch (error) {
    return { file, problem: (error as Error).message };
  }
}

/** `space` is null if there is no data folder yet. */
async function diskOf({ dataFolder }: Pick<Config, "dataFolder">): Promise<object> {
  if (!existsSync(dataFolder)) return { dataFolder, space: null };
  return {
    dataFolder,
    space: await readDiskSpace(dataFolder),
    areas: await measureDataFolder(dataFolder),
  };
}

/** Runs for every driver whose bots are in containers. */
async function operateNetworkPolicies({ driver, regions }: Config, what: string): Promise<object> {
  const own = driversOf(regions);
  const networkPolicies = await Promise.all(
    (own.length > 0 ? own : [driver]).map((config) => findDriverNetworkPolicy(config)),
  );
  // Regions may share a network.
  const byTable = new Map(
    networkPolicies.flatMap((networkPolicy) =>
      networkPolicy ? [[tableOf(networkPolicy), networkPolicy] as const] : [],
    ),
  );
  return {
    networkPolicies: await Promise.all(
      [...byTable.values()].map((networkPolicy) => operateNetworkPolicy(networkPolicy, what)),
    ),
  };
}

async function operateNetworkPolicy(networkPolicy: NetworkPolicy, what: string): Promise<object> {
  const about = { networkPolicy, table: tableOf(networkPolicy), rules: networkPolicyRules(networkPolicy) };
  switch (what) {
    case "show":
      return about;
    case "up":
      await applyNetworkPolicy(networkPolicy);
      return about;
    case "down":
      await removeNetworkPolicy(networkPolicy);
      return about;
    case "state": {
      const state = await readNetworkPolicy(networkPolicy).catch(
        (error: unknown) => (error as Error).message,
      );
      return { ...about, state };
    }
    default:
      throw new ConfigError("Say what about the network policy: show, up, down or state");
  }
}

async function moveToPostgres(
  { dataFolder, databaseUrl }: Config,
  progress: (text: string) => void,
): Promise<object> {
  if (databaseUrl === undefined)
    throw new ConfigError("Set VOCALHOST_DATABASE_URL to the database to copy into: postgres://…");
  await using from = await openSqliteStore({ file: sqliteFileIn(dataFolder), reserveBytes: 0 });
  await requireStopped(from);
  await claimDataFolder(from, { dataFolder });
  await using to = await openPostgresStore({ url: databaseUrl });
  await makeAuthTables(to);
  const copied = await copyStore({
    ...{ from, to, progress: (table, rows) => progress(`${table}: ${rows} rows`) },
  });
  // From here on the folder belongs to the copy: a start on the SQLite file would not know later builds.
  await writeMark(dataFolder, await to.transaction((tx) => renewIdentity(tx, "replaces")));
  return copied;
}

async function rotate(
  { dataFolder, databaseUrl, masterKeys }: Config,
  progress: (text: string) => void,
): Promise<object> {
  await using store =
    databaseUrl === undefined
      ? await openSqliteStore({ file: sqliteFileIn(dataFolder), reserveBytes: 0 })
      : await openPostgresStore({ url: databaseUrl });
  await claimDataFolder(store, { dataFolder, databaseUrl });
  const isRunning = await isLed(store);
  return await rotateMasterKey({
    ...{ store, configured: masterKeys, file: masterKeyFile(dataFolder), isRunning, progress },
  });
}

/** Also converts a file of an earlier release, so that it shrinks automatically. */
async function compact({ dataFolder }: Pick<Config, "dataFolder">): Promise<object> {
  const file = sqliteFileIn(dataFolder);
  const beforeBytes = (await stat(file)).size;
  {
    await using store = await openSqliteStore({ file, reserveBytes: 0 });
    await requireStopped(store);
  }
  using database = new DatabaseSync(file);
  database.exec("pragma auto_vacuum = incremental; vacuum; pragma wal_checkpoint(truncate)");
  return { file, beforeBytes, afterBytes: (await stat(file)).size };
}

function sqliteFileIn(dataFolder: string): string {
  const file = join(dataFolder, "vocalhost.db");
  if (!existsSync(file)) throw new ConfigError(`There is no SQLite store in ${dataFolder}`);
  return file;
}

/** A running service could write rows that the copy would miss. */
async function requireStopped(store: Store): Promise<void> {
  if (!(await isLed(store))) return;
  throw new ConfigError("The service is running; stop it first, so that nothing is written meanwhile");
}

async function isLed({ db }: Store): Promise<boolean> {
  const leader = await db.selectFrom("leader").selectAll().executeTakeFirst();
  return leader !== undefined && leader.until > systemClock.nowMs() && !isHolderDead(leader.holder);
}

function say(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
