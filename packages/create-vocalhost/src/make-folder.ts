import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The folder of a project that is being made. Until it is kept, disposing it leaves nothing behind. */
export interface NewFolder extends AsyncDisposable {
  readonly path: string;
  write(files: ReadonlyMap<string, string | Uint8Array>): Promise<void>;
  keep(): void;
}

/** There is something in the way. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

/** Takes an empty folder, or makes one; never one with something in it. */
export async function makeFolder(path: string): Promise<NewFolder> {
  const wasThere = await isEmptyFolder(path);
  const firstMade = wasThere ? undefined : await mkdir(path, { recursive: true });
  let isKept = false;
  return {
    path,
    async write(files) {
      for (const [name, text] of files) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text, { flag: "wx" });
      }
    },
    keep() {
      isKept = true;
    },
    async [Symbol.asyncDispose]() {
      if (isKept) return;
      if (firstMade !== undefined) return removed(firstMade);
      for (const name of await readdir(path)) await removed(join(path, name));
    },
  };
}

async function isEmptyFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new FolderError(`Cannot use ${path}: ${error.message}`, { cause: error });
  });
  if (!found) return false;
  if (!found.isDirectory()) throw new FolderError(`${basename(path)} already exists and is not a folder`);
  const names = await readdir(path);
  if (names.length === 0) return true;
  throw new FolderError(
    `The folder ${basename(path)} is not empty: it contains ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`,
  );
}

async function removed(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}
