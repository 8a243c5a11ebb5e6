import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));

/** What `npm pack --json` says about one package. */
export interface PackedPackage {
  filename: string;
  files: { path: string }[];
}

export interface PublishedManifest {
  name: string;
  description?: string;
  keywords?: string[];
  homepage?: string;
  bugs?: string;
  repository?: { url: string; directory?: string };
  bin?: Record<string, string>;
  exports?: Record<string, Record<string, string>>;
}

export function readManifest(folder: string): PublishedManifest {
  return JSON.parse(readFileSync(join(PACKAGES, folder, "package.json"), "utf8")) as PublishedManifest;
}

/** The files that must be packed: those a package is entered by, and those everybody looks for. */
export function requiredByManifest({ bin = {}, exports = {} }: PublishedManifest): string[] {
  const entries = Object.values(exports).flatMap(({ types, default: code }) => [types, code]);
  return [...Object.values(bin), ...entries, "package.json", "README.md", "LICENSE"].flatMap((path) =>
    path === undefined ? [] : [path.replace("./", "")],
  );
}

/** A template of a test is there for the project that is made from it. */
export function isOnlyForTests(path: string): boolean {
  const inFolder = /(?:^|\/)(?:testing|tests?|fixtures|simulation|__snapshots__)\//.test(path);
  return inFolder || /\.test\.(?!ts\.template$)|\.snapshot$|(?:^|\/)test-[^/]*$/.test(path);
}
