import { createRequire } from "node:module";
import { join } from "node:path";

/** The program that runs the bot in this folder: of the SDK the bot itself uses. */
export function findEntry(source: string): string {
  try {
    return createRequire(join(source, "package.json")).resolve("vocalhost/instance");
  } catch (cause) {
    throw new Error(
      'The bot\'s project does not hold the package "vocalhost" in a version this service can run',
      { cause },
    );
  }
}
