import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Ids of uploads for clients: random, and without any path. */
export const UPLOAD_ID = /^vocalhost:([0-9a-f]{32})$/;

let folder: string | undefined;

/** Sets the folder of uploads; undefined where the runner takes none. */
export function provideUploads(uploadsFolder: string | undefined): void {
  folder = uploadsFolder;
}

/** Returns the content of an upload. Throws when there is no such file, or it was deleted. */
export async function readUpload(id: string): Promise<Uint8Array> {
  const name = UPLOAD_ID.exec(id)?.[1];
  if (folder === undefined || name === undefined) throw new Error("There is no such upload");
  try {
    return await readFile(join(folder, name));
  } catch (cause) {
    throw new Error("There is no such upload, or no longer", { cause });
  }
}
