import { existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { packageFolder } from "../own-files.ts";

/** Beside the `node_modules` this package is in, where the base image has compiled code of the whole of it. */
export const COMPILE_CACHE = join(packageFolder, "../../compile-cache");

/**
 * Lets Node take compiled code from a folder that was made on another machine, and that nobody can write to. Node looks
 * in a folder named after its version, the processor's features and the user; the code itself depends on the first only.
 */
export function useCompileCache(folder: string = COMPILE_CACHE): void {
  if (!existsSync(folder)) return;
  try {
    const named = mkdtempSync(join(tmpdir(), "compile-cache-"));
    symlinkSync(folder, join(named, cacheTag()));
    enableCompileCache(named);
  } catch {
    // Without a temporary folder it starts later, but it starts.
  }
}

/** What Node calls the folder inside of a compile cache. */
export function cacheTag(): string {
  const version = cachedDataVersionTag().toString(16).padStart(8, "0");
  return `${process.version}-${process.arch}-${version}-${process.getuid?.() ?? 0}`;
}
