// Separate users for builds and bots, when the service is root: user ids that are otherwise unused on this machine.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

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
const MAY_PASS = 0o001;
const OWN_FILES_ONLY = 0o1770; // a bot may add files to its folder, and remove or replace only its own

/** The capabilities(7) that a service needs to start, watch, end and clean up after programs of other users. */
const CAPABILITIES = [
  [0n, "CAP_CHOWN"],
  [1n, "CAP_DAC_OVERRIDE"],
  [3n, "CAP_FOWNER"],
  [5n, "CAP_KILL"],
  [6n, "CAP_SETGID"],
  [7n, "CAP_SETUID"],
] as const;

/** The number of builds that can run at once. */
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

/**
 * Lets all users pass through the folders above these, where we own them. Passing allows neither listing a folder nor
 * reading its files. Returns the folders that were opened, and the first one that could not be.
 */
export function openFoldersAbove(paths: readonly string[]): { opened: string[]; closed: string | undefined } {
  const opened: string[] = [];
  for (const path of paths)
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const { mode, uid } = statSync(folder);
      if ((mode & MAY_PASS) === 0) {
        if (uid !== process.getuid?.()) return { opened, closed: folder };
        chmodSync(folder, (mode & 0o7777) | MAY_PASS);
        opened.push(folder);
      }
      if (folder === dirname(folder)) break;
    }
  return { opened, closed: undefined };
}

/** Why this process cannot run programs as others; undefined if it can. */
export function whyNoOtherUsers(statusFile = "/proc/self/status"): string | undefined {
  const [, effective = "0"] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync(statusFile, "utf8")) ?? [];
  const held = BigInt(`0x${effective}`);
  const missing = CAPABILITIES.filter(([bit]) => (held & (1n << bit)) === 0n).map(([, name]) => name);
  return missing.length === 0 ? undefined : `the service lacks ${missing.join(", ")}`;
}

/** Why the system refuses to run programs as these users, whatever we may do; undefined if it does not. */
export function whyRefused(range: UserRange, execPath: string): string | undefined {
  const { error } = spawnSync(execPath, ["--version"], { ...builderUser(range, 0), cwd: "/", env: {} });
  const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
  return ["EPERM", "EINVAL"].includes(code) ? `the system refuses to change users: ${code}` : undefined;
}

/** Returns what keeps users of that range from reading these folders and files; undefined if nothing does. */
export function whyUsersCannotRead(
  range: UserRange,
  { execPath, mustRead }: { execPath: string; mustRead: readonly string[] },
): string | undefined {
  const program = "process.argv.slice(1).forEach((path) => require('node:fs').accessSync(path, 4))";
  const { status, stderr, error } = spawnSync(execPath, ["-e", program, ...mustRead], {
    ...builderUser(range, 0),
    cwd: "/",
    env: {},
    encoding: "utf8",
  });
  if (error) return error.message;
  return status === 0 ? undefined : (/^(?:Error: )(.*)$/m.exec(stderr)?.[1] ?? `exit code ${status}`);
}

/** The folders of instances that share a range of users. */
export interface InstanceRoots {
  root: string;
  others: readonly string[];
}

/** Gives the folder, one of those in `root`, to a user that has no other. Synchronous, so that no other call takes the same user. */
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

/** Returns the user that the folder was given to, if any. */
export function userOf(folder: string, { first, last }: UserRange): number | undefined {
  const gid = lstatSync(folder, { throwIfNoEntry: false })?.gid;
  return gid !== undefined && gid >= first + BUILDERS_MAX && gid <= last ? gid : undefined;
}

/** Makes the service the owner of what a build made: every user may read it, and only the service may change it. */
export async function closeToChanges(folder: string): Promise<void> {
  await lchown(folder, 0, 0); // its maker is kept out first
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    await lchown(path, 0, 0);
    if (entry.isSymbolicLink()) continue;
    const { mode } = await lstat(path);
    await chmod(path, (mode & 0o755) | (entry.isDirectory() ? 0o755 : 0o444));
  }
  await chmod(folder, 0o755);
}

/** Tells whether every user may read it. Builds made as the service's own user may be closed to others. */
export function isOpenToAll(folder: string): boolean {
  return ((lstatSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o005) === 0o005;
}
