import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

/** Returns the path of the voice filter's engine: the named module, else the one installed beside this package. */
export function findEngine(named: string | undefined): string | undefined {
  if (named !== undefined) return existsSync(named) ? resolve(named) : undefined;
  try {
    return createRequire(import.meta.url).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
