// A bot loads in half the time when its code need not be compiled again. Node keeps compiled code in a folder, and in
// that one for each user.
import { randomUUID } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import type { RunAs } from "./own-users.ts";
import { openPlainFile } from "../local/guarded-files.ts";

const IN_BUILD = "node_modules/.compile-cache"; // so that it goes with the build
const IN_INSTANCE = "compiled-code";
const FILES_MAX = 20_000;
const BYTES_MAX = 128 * 1024 * 1024;

/** Returns the folder of compiled code that all instances of a build share, if they run as the service's own user. */
export async function sharedCode(build: string): Promise<string | undefined> {
  const folder = join(build, IN_BUILD);
  return mkdir(folder).then(
    () => folder,
    (error: NodeJS.ErrnoException) => (error.code === "EEXIST" ? folder : undefined),
  );
}

/**
 * Does the same for an instance with its own user. It reads the compiled code kept for its build, which only the
 * service can change, or writes its own code into its folder for `keepCompiledCode`.
 */
export async function ownCode(
  build: string,
  { folder, user }: { folder: string; user: RunAs },
): Promise<string> {
  const own = join(folder, IN_INSTANCE);
  await mkdir(own);
  await chmod(own, 0o755);
  const kept = keptIn(build);
  if (await isOurs(kept)) await symlink(kept, join(own, tagOf(user.uid)));
  else await chown(own, user.uid, user.gid);
  return own;
}

const keeping = new Set<string>();

/** Keeps for its build what an instance has compiled, unless that was done before. */
export async function keepCompiledCode(
  build: string,
  { folder, uid }: { folder: string; uid: number },
): Promise<void> {
  const kept = keptIn(build);
  if (keeping.has(build) || (await isOurs(kept))) return;
  keeping.add(build);
  const aside = join(build, IN_BUILD, `.${randomUUID()}`);
  try {
    const from = join(folder, IN_INSTANCE, tagOf(uid));
    const names = await readdir(from);
    if (names.length === 0 || names.length > FILES_MAX) return;
    await mkdir(aside, { recursive: true });
    for (const each of [dirname(aside), aside]) await chmod(each, 0o755);
    let leftBytes = BYTES_MAX;
    for (const name of names)
      leftBytes -= await copy(join(from, name), join(aside, name), { uid, leftBytes });
    await rename(aside, kept);
  } catch {
    // Later instances compile the code themselves.
    await rm(aside, { recursive: true, force: true });
  } finally {
    keeping.delete(build);
  }
}

/** Only a file of that user: the bot could have put a link to one of ours anywhere on the way. */
async function copy(
  from: string,
  to: string,
  { uid, leftBytes }: { uid: number; leftBytes: number },
): Promise<number> {
  await using file = await openPlainFile(from);
  const about = await file?.stat();
  if (!file || about?.uid !== uid || about.nlink !== 1) return 0;
  if (about.size > leftBytes) throw new Error("It has compiled more code than a build can have");
  const bytes = Buffer.alloc(about.size);
  await file.read(bytes, 0, about.size, 0);
  await writeFile(to, bytes, { flag: "wx" });
  await chmod(to, 0o644);
  return about.size;
}

function keptIn(build: string): string {
  return join(build, IN_BUILD, tagOf(0));
}

/** Returns the name that Node gives the folder of a user: its version, and what compiled code depends on. */
function tagOf(uid: number): string {
  return `${process.version}-${process.arch}-${cachedDataVersionTag().toString(16).padStart(8, "0")}-${uid}`;
}

async function isOurs(folder: string): Promise<boolean> {
  return lstat(folder).then(
    (found) => found.isDirectory() && found.uid === process.getuid?.(),
    () => false,
  );
}
