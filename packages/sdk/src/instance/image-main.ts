// Entry point of the base image: starts an instance of the bot in the working folder, using the bot's own copy of
// this package if it has one. With two copies, the bot's routes would go to an app that is not served.
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
