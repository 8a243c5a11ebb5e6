// Files in a folder the bot can write to as well: whatever lies there may be a link, a pipe, a folder or endless.
import { constants } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";

/** Undefined unless it is a plain file; never follows a link and never waits for the other end of a pipe. */
export async function openPlainFile(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (!file) return undefined;
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

/** Undefined if it is no plain file, or longer. */
export async function readPlainText(path: string, maxBytes: number): Promise<string | undefined> {
  await using file = await openPlainFile(path);
  const size = file ? (await file.stat()).size : 0;
  if (!file || size > maxBytes) return undefined;
  const buffer = Buffer.allocUnsafe(size);
  const { bytesRead } = await file.read(buffer, 0, size, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

/** Replaces the file in one step, and does not follow a link in its place. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.tmp`;
  await rm(fresh, { recursive: true, force: true });
  await using file = await open(fresh, "wx", 0o600);
  await file.writeFile(text);
  await rename(fresh, path);
}
