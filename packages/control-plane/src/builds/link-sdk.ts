import { lstat, readdir, readlink, rename, symlink } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { Log } from "@vocalhost/base/log";

/** The link from a build to the service's own SDK, whose path differs between machines. */
export const LINKED_SDK = "node_modules/vocalhost";

export interface BuildLinks {
  dataFolder: string;
  sdkFolder: string;
  log: Log;
}

/**
 * Updates the links of builds, which contain the service's folder at build time. After an upgrade into another folder
 * their bots could not start.
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
  if (!found?.isSymbolicLink()) return; // the bot has its own copy
  const target = await readlink(link);
  if (!isAbsolute(target) || target === sdkFolder) return; // links in uploads stay inside them
  const aside = `${link}.new`;
  await symlink(sdkFolder, aside);
  await rename(aside, link); // an instance that starts meanwhile finds one of the two
}
