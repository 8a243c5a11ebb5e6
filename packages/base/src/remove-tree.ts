import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a tree even if a bot that runs as our user has withdrawn permissions from its folders. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    await openFolders(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openFolders(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return;
  await chmod(path, 0o700).catch(() => undefined); // fails on another user's folder; the removal reports it
  for (const name of await readdir(path).catch(() => [])) await openFolders(join(path, name));
}
