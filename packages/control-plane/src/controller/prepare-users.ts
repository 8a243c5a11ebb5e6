import { dirname, join } from "node:path";
import { ConfigError, driversOf, type Config } from "../config.ts";
import type { Log } from "../log.ts";
import { openWays, whyUsersCannotRun } from "../own-users.ts";
import { findSdk } from "./find-sdk.ts";
import { ownProgram } from "../own-files.ts";

/** Says who bots and builds run as, and what that means; makes it possible if they have users of their own. */
export function prepareUsers({ users, dataFolder, driver, regions }: Config, log: Log): void {
  if (!users) {
    const own = driversOf(regions);
    const drivers = own.length > 0 ? own : [driver];
    if (drivers.every(({ kind }) => kind !== "process")) return; // bots have one in their container, and the builder runs nothing of theirs
    const isRoot = process.getuid?.() === 0;
    const way = isRoot ? "set VOCALHOST_BOT_UIDS" : "run the service as root and set VOCALHOST_BOT_UIDS";
    log.warn(
      { user: isRoot ? "root" : String(process.getuid?.()) },
      `bots and builds run as the service's own user and can read its keys, its store and other agents' secrets; ` +
        `deploy only code you trust, or ${way}`,
    );
    return;
  }
  openWays([dataFolder, ...["instances", "builds", "uploads"].map((name) => join(dataFolder, name))]);
  for (const { kind, folder } of driversOf(regions).filter((each) => each !== driver))
    if (kind === "process") openWays([join(dataFolder, "regions"), dirname(folder), folder]);
  const why = whyUsersCannotRun(users, {
    execPath: process.execPath,
    mustReach: [findSdk(), join(dataFolder, "instances"), dirname(ownProgram("builds/builder-main"))],
  });
  if (why !== undefined)
    throw new ConfigError(
      `VOCALHOST_BOT_UIDS: users ${users.first}-${users.last} cannot run bots here (${why}). ` +
        "Every folder on the way to this program and to the data folder must let everybody pass",
    );
  log.info({ ...users }, "bots and builds run as users of their own");
}
