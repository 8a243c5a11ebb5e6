import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the folder of the package `vocalhost` that comes with the service. Bots without their own copy use it. */
export function findSdk(): string {
  let folder = dirname(realpathSync(createRequire(import.meta.url).resolve("vocalhost")));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
