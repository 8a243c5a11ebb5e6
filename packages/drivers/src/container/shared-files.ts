import { sharedFileNames, INSTANCE_FILE_BYTES } from "@vocalhost/protocol";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { readPlainText } from "../local/guarded-files.ts";

/** The only part of an instance's folder that its container sees. */
const SHARED_FOLDER = "slots";

export function sharedFolderOf(root: string, id: string): string {
  return join(root, id, SHARED_FOLDER);
}

/**
 * Every process in the container may overwrite these files, and none can make another: the folder belongs to the service,
 * whatever user the container has. Other users of this machine cannot enter the folder above.
 */
export async function makeSharedFiles(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755); // whatever our umask is
  await Promise.all(
    Object.values(sharedFileNames).map(async (name) => {
      await writeFile(join(folder, name), "", { flag: "wx" });
      await chmod(join(folder, name), 0o666);
    }),
  );
}

/** Undefined while nothing, or nothing that makes sense, is in it. */
export async function readSharedFile<S extends z.ZodType>(
  schema: S,
  folder: string,
  file: "alive" | "exit",
): Promise<z.infer<S> | undefined> {
  const text = await readSharedText(folder, file);
  try {
    return text ? schema.parse(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

export async function readSharedText(folder: string, file: keyof typeof sharedFileNames): Promise<string> {
  return (await readPlainText(join(folder, sharedFileNames[file]), INSTANCE_FILE_BYTES))?.trim() ?? "";
}

export async function emptySlots(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}
