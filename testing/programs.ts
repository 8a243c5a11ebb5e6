import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

// When all tests are run our programs are built first: each then starts in half the time, and they start hundreds of times.
// A test that is run alone has them from their sources.
export const isBuilt = process.env["VOCALHOST_TEST_PROGRAMS"] === "built";

/** Flags with which Node finds the packages that go with the programs. */
export const nodeFlags = isBuilt ? [] : ["--conditions=@vocalhost/source"];

/** The same for a bot; one that looks inside the SDK must find there what it runs on. */
export function nodeFlagsFor(bot: string): string[] {
  const looksInside = /from "[^"]*packages\/sdk\/src\//.test(readFileSync(bot, "utf8"));
  return looksInside ? ["--conditions=@vocalhost/source"] : nodeFlags;
}

const PACKAGES = resolve(import.meta.dirname, "../packages");

/** `vocalhost`. */
export const commandLine = isBuilt
  ? join(import.meta.dirname, "built-vocalhost.ts")
  : join(PACKAGES, "cli/bin/vocalhost.js");

/** By its path among the sources of its package, without the extension. */
export function programOf(packageName: string, path: string): string {
  return join(PACKAGES, packageName, isBuilt ? `dist/${path}.js` : `src/${path}.ts`);
}
