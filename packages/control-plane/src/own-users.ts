// Users of their own for builds and bots, when the service is root: numbers nobody else on this machine has.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { lchown, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The first few run builds, one each at a time; each instance has one of the others, which no other live instance has. */
export interface UserRange {
  first: number;
  last: number;
}

export interface RunAs {
  uid: number;
  gid: number;
}

const PASS_THROUGH = 0o711; // one's own folder can be reached, its neighbours' names cannot be read
const OWN_FILES_ONLY = 0o1770; // a bot may add files to its folder, and remove or replace only its own

/** As many builds can run at once. */
export const BUILDERS_MAX = 16;

/** Builds in different slots run at the same time, and must not reach each other's folders. */
export function builderUser({ first }: UserRange, slot: number): RunAs {
  return { uid: first + slot, gid: first + slot };
}

/** Lets those users through to what is theirs. Everything else in these folders is readable to root only. */
export function openWays(folders: readonly string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true, mode: PASS_THROUGH });
    chmodSync(folder, PASS_THROUGH);
  }
}

/** Why users of that range cannot run anything here; undefined if they can. */
export function whyUsersCannotRun(
  range: UserRange,
  { execPath, mustReach }: { execPath: string; mustReach: readonly string[] },
): string | undefined {
  const program = "process.argv.slice(1).forEach((path) => require('node:fs').statSync(path + '/.'))";
  const { status, stderr, error } = spawnSync(execPath, ["-e", program, ...mustReach], {
    ...builderUser(range, 0),
    cwd: "/",
    env: {},
    encoding: "utf8",
  });
  if (error) return error.message;
  return status === 0 ? undefined : (/^(?:Error: )(.*)$/m.exec(stderr)?.[1] ?? `exit code ${status}`);
}

/** Where instances that share a range of users have their folders. */
export interface InstanceRoots {
  root: string;
  others: readonly string[];
}

/** Gives the folder, one of those in `root`, to a user that has no other anywhere. At once, so that nobody comes between. */
export function giveToUser({ root, others }: InstanceRoots, name: string, { first, last }: UserRange): RunAs {
  const folders = [root, ...others].flatMap((each) =>
    existsSync(each) ? readdirSync(each).map((folder) => join(each, folder)) : [],
  );
  const taken = new Set(folders.map((folder) => lstatSync(folder, { throwIfNoEntry: false })?.gid));
  const firstInstance = first + BUILDERS_MAX;
  const count = last - firstInstance + 1;
  const start = createHash("sha256").update(name).digest().readUInt32BE(0) % count;
  for (let step = 0; step < count; step += 1) {
    const id = firstInstance + ((start + step) % count);
    if (taken.has(id)) continue;
    chownSync(join(root, name), 0, id);
    chmodSync(join(root, name), OWN_FILES_ONLY);
    return { uid: id, gid: id };
  }
  throw new Error(`All ${count} users for instances are in use`);
}

/** Who the folder was given to; undefined if it was to nobody. */
export function userOf(folder: string, { first, last }: UserRange): number | undefined {
  const gid = lstatSync(folder, { throwIfNoEntry: false })?.gid;
  return gid !== undefined && gid >= first + BUILDERS_MAX && gid <= last ? gid : undefined;
}

/** The folder and all in it; links themselves, not what they name. */
export async function changeOwner(folder: string, { uid, gid }: RunAs): Promise<void> {
  await lchown(folder, uid, gid);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), uid, gid);
}
