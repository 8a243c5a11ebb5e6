import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { driversOf, type Config } from "../config.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { findFreeUsers } from "@vocalhost/drivers/process/free-users";
import type { Log } from "@vocalhost/base/log";
import { ownProgram } from "@vocalhost/base/own-files";
import {
  openFoldersAbove,
  openWays,
  whyNoOtherUsers,
  whyRefused,
  whyUsersCannotRead,
  type UserRange,
} from "@vocalhost/drivers/process/own-users";
import { findSdk } from "./find-sdk.ts";

/** The users of builds, and of bots that are processes. */
export interface PreparedUsers {
  /** Undefined: they run as the service's own user. */
  range: UserRange | undefined;
  /** The reason why they have no users of their own; also undefined where bots are no processes. */
  why?: string;
}

export interface PrepareUsersOptions {
  log: Log;
  /** Module that bots load. */
  vivaEngine: string | undefined;
}

const CONTAINERS = "for other people's code use VOCALHOST_DRIVER=container (docs/hosted/isolation.md)";
const GIVEN_UP =
  "can read its keys, its store and other agents' secrets, and change its program; deploy only code you trust";

/** Logs which users bots and builds run as and what follows from it. Prepares files for users of their own. */
export function prepareUsers(config: Config, { log, vivaEngine }: PrepareUsersOptions): PreparedUsers {
  const { driver, regions } = config;
  const own = driversOf(regions);
  const drivers = own.length > 0 ? own : [driver];
  if (drivers.every(({ kind }) => kind !== "process")) return { range: undefined }; // containers have their own
  const found = findUsers(config);
  const { range, why } = found;
  if (!range) {
    const user = process.getuid?.() === 0 ? "root" : String(process.getuid?.());
    log.warn(
      { user },
      `bots and builds run as the service's own user (${why}) and ${GIVEN_UP}; ${CONTAINERS}`,
    );
    return found;
  }
  makeReachable(config, { range, vivaEngine, log });
  log.info(
    {},
    `bots and builds run as users ${range.first}-${range.last}, which nothing else uses (VOCALHOST_BOT_UIDS)`,
  );
  return found;
}

function findUsers({ users, dataFolder }: Config): PreparedUsers {
  if (users === "off") return { range: undefined, why: "VOCALHOST_BOT_UIDS=off" };
  if (users !== "picked") return { range: users };
  if (process.getuid?.() !== 0) return { range: undefined, why: "only root can give them others" };
  if (process.platform !== "linux")
    return { range: undefined, why: "set VOCALHOST_BOT_UIDS to give them others" };
  const why = whyNoOtherUsers();
  if (why !== undefined) return { range: undefined, why };
  const range = findFreeUsers(dataFolder);
  if (!range) return { range, why: "no user numbers are free" };
  const refused = whyRefused(range, process.execPath);
  return refused === undefined ? { range } : { range: undefined, why: refused };
}

function makeReachable(
  { dataFolder, driver, regions }: Config,
  { range, vivaEngine, log }: PrepareUsersOptions & { range: UserRange },
): void {
  openWays([dataFolder, ...["instances", "builds", "uploads"].map((name) => join(dataFolder, name))]);
  for (const { kind, folder } of driversOf(regions).filter((each) => each !== driver))
    if (kind === "process") openWays([join(dataFolder, "regions"), dirname(folder), folder]);
  const program = [
    process.execPath,
    findSdk(),
    ownProgram(import.meta, "builds/builder-main"),
    ...(vivaEngine ? [vivaEngine] : []),
  ];
  const reached = [join(dataFolder, "builds"), ...program];
  const { opened, closed } = openFoldersAbove([...reached, ...reached.map((each) => realpathSync(each))]);
  if (opened.length > 0)
    log.info(
      { folders: opened },
      "everybody may pass through these folders now (chmod o+x), so that bots reach their builds",
    );
  if (closed !== undefined)
    throw unreachable(`Users of bots cannot pass through ${closed}`, `chmod o+x ${closed}`);
  const mustRead = [...program, join(findSdk(), "package.json")];
  const why = whyUsersCannotRead(range, { execPath: process.execPath, mustRead });
  if (why !== undefined)
    throw unreachable(`Users of bots cannot read this program (${why})`, "chmod -R o+rX on its folder");
}

function unreachable(what: string, fix: string): ConfigError {
  return new ConfigError(
    `${what}. Type ${fix}, install the program and its data folder elsewhere (/opt, /var/lib), ` +
      "or set VOCALHOST_BOT_UIDS=off, and bots run as the service's own user",
  );
}
