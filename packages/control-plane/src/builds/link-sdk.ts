import { lstat, readdir, readlink, rename, symlink } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Log } from "@vocalhost/base/log";

/** Where a build finds the service's own SDK, which is elsewhere on another machine. */
export const LINKED_SDK = "node_modules/vocalhost";

export interface BuildLinks {
  dataFolder: string;
  sdkFolder: string;
  log: Log;
}

/**
 * Builds name the folder in which the service was when they were made. After an upgrade into another folder they would
 * start nothing any more.
 */
export async function relinkSdk({ dataFolder, sdkFolder, log }: BuildLinks): Promise<void> {
  const builds = join(dataFolder, "builds");
  for (const id of await readdir(builds).catch(() => []))
    await relink(join(builds, id, LINKED_SDK), sdkFolder).catch((error: unknown) =>
      log.warn({ err: error, buildId: id }, "build cannot be linked to this program"),
    );
}

async function relink(link: string, sdkFolder: string): Promise<void> {
  const found = await lstat(link).catch(() => undefined);
  if (!found?.isSymbolicLink()) return; // the bot brought its own
  const target = await readlink(link);
  if (!isAbsolute(target) || target === sdkFolder) return; // links in uploads stay inside of them
  const aside = `${link}.new`;
  await symlink(sdkFolder, aside);
  await rename(aside, link); // instances that start meanwhile find one or the other
}
