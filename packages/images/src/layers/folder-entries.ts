import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { LayerEntry } from "./layer-entry.ts";

export interface FolderEntriesOptions {
  folder: string;
  /** Path of the folder in the image; empty for its root. */
  at: string;
  uid: number;
  gid: number;
  /** Gets paths inside the folder. @default all of it */
  keeps?: (path: string, isDirectory: boolean) => boolean;
  signal?: AbortSignal | undefined;
}

const PROGRAM_MODE = 0o755;
const FILE_MODE = 0o644;

/**
 * Converts a folder of this machine to entries of a layer. Modes keep only whether a file is executable: other bits
 * depend on the machine that made the folder.
 */
export async function folderEntries(options: FolderEntriesOptions): Promise<LayerEntry[]> {
  const { folder, at, uid, gid, keeps = () => true } = options;
  const entries: LayerEntry[] =
    at === "" ? [] : [{ kind: "directory", path: at, mode: PROGRAM_MODE, uid, gid }];
  const collect = async (below: string): Promise<void> => {
    for (const { name } of await readdir(join(folder, below), { withFileTypes: true })) {
      options.signal?.throwIfAborted();
      const place = below === "" ? name : `${below}/${name}`;
      const source = join(folder, place);
      const found = await lstat(source);
      if (!keeps(place, found.isDirectory())) continue;
      const path = at === "" ? place : `${at}/${place}`;
      if (found.isDirectory()) {
        entries.push({ kind: "directory", path, mode: PROGRAM_MODE, uid, gid });
        await collect(place);
      } else if (found.isSymbolicLink())
        entries.push({ kind: "symlink", path, target: await readlink(source), mode: 0o777, uid, gid });
      else if (found.isFile()) {
        const mode = (found.mode & 0o111) === 0 ? FILE_MODE : PROGRAM_MODE;
        entries.push({ kind: "file", path, source, mode, uid, gid });
      } // sockets and devices have no place in an image
    }
  };
  await collect("");
  return entries;
}
