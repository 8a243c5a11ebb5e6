// What the base image starts: an instance of the bot in the working folder, from the bot's own copy of this package if
// it brought one. Both must be the same, or the bot's routes would be added to an app that nobody serves.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { useCompileCache } from "./compile-cache.ts";

useCompileCache();
const own = findOwnCopy();
await (own === undefined ? import("./main.ts") : import(pathToFileURL(own).href));

function findOwnCopy(): string | undefined {
  try {
    return createRequire(join(process.cwd(), "package.json")).resolve("vocalhost/instance");
  } catch {
    return undefined;
  }
}
