import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { LockFile, type ProductPackages } from "./npm-packages.ts";

/** The product as npm has it. */
export function publishedProduct(version: string): ProductPackages {
  return { specs: [`vocalhost@${version}`, `@vocalhost/viva@${version}`] };
}

/** A project as `npm run build:base-image` makes one, or just a folder with archives; undefined where there are none. */
export async function readPackedProduct(folder: string): Promise<ProductPackages | undefined> {
  const archives = existsSync(join(folder, "archives")) ? join(folder, "archives") : folder;
  const names = (await readdir(archives).catch(() => [])).filter((name) => name.endsWith(".tgz"));
  if (names.length === 0) return undefined;
  const specs = names.toSorted().map((name) => join(archives, name));
  const lock = join(folder, "package-lock.json");
  return existsSync(lock)
    ? { specs, lock: LockFile.parse(JSON.parse(await readFile(lock, "utf8"))) }
    : { specs };
}
