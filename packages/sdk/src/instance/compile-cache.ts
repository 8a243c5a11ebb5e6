import { existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { packageFolder } from "../own-files.ts";

/** Beside the `node_modules` that holds this package; the base image has its compiled code there. */
export const COMPILE_CACHE = join(packageFolder, "../../compile-cache");

/**
 * Lets Node use compiled code from a read-only folder made on another machine. Node names the subfolder by its
 * version, the processor's features and the user; the code depends on the version only.
 */
export function useCompileCache(folder: string = COMPILE_CACHE): void {
  if (!existsSync(folder)) return;
  try {
    const named = mkdtempSync(join(tmpdir(), "compile-cache-"));
    symlinkSync(folder, join(named, cacheTag()));
    enableCompileCache(named);
  } catch {
    // Without a temporary folder the start is slower.
  }
}

/** Returns the name of Node's subfolder in a compile cache. */
export function cacheTag(): string {
  const version = cachedDataVersionTag().toString(16).padStart(8, "0");
  return `${process.version}-${process.arch}-${version}-${process.getuid?.() ?? 0}`;
}
