import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** How uploads are named to clients: not by a path, and not by anything that can be guessed. */
export const UPLOAD_ID = /^vocalhost:([0-9a-f]{32})$/;

let folder: string | undefined;

/** Says where the runner keeps what clients upload; undefined: it takes none. */
export function provideUploads(uploadsFolder: string | undefined): void {
  folder = uploadsFolder;
}

/** What a client has uploaded under this id. Throws when there is no such file, or no longer. */
export async function readUpload(id: string): Promise<Uint8Array> {
  const name = UPLOAD_ID.exec(id)?.[1];
  if (folder === undefined || name === undefined) throw new Error("There is no such upload");
  try {
    return await readFile(join(folder, name));
  } catch (cause) {
    throw new Error("There is no such upload, or no longer", { cause });
  }
}
