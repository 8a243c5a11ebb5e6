import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));

/** A package as it is published. */
export interface PackedPackage {
  /** Its archive. */
  file: string;
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

/** The packages in the one archive that makes projects, and itself, by their folder here; unpacks it into `folder`. */
export async function readArchive(archive: string, folder: string): Promise<Map<string, PackedPackage>> {
  await run("tar", ["-xzf", archive, "-C", folder, "package/packages"]);
  const packages = join(folder, "package/packages");
  const names = JSON.parse(readFileSync(join(packages, "names.json"), "utf8")) as Record<string, string>;
  const archives = [...Object.values(names).map((name) => join(packages, name)), archive];
  return new Map(await Promise.all(archives.map(readPackage)));
}

async function readPackage(file: string): Promise<[string, PackedPackage]> {
  const [{ stdout: manifest }, { stdout: listed }] = await Promise.all([
    run("tar", ["-xzOf", file, "package/package.json"]),
    run("tar", ["-tzf", file]),
  ]);
  const { repository } = JSON.parse(manifest) as PublishedManifest;
  const files = listed
    .trim()
    .split("\n")
    .map((path) => ({ path: path.replace("package/", "") }));
  return [repository?.directory?.replace("packages/", "") ?? "", { file, files }];
}

export function readManifest(folder: string): PublishedManifest {
  return JSON.parse(readFileSync(join(PACKAGES, folder, "package.json"), "utf8")) as PublishedManifest;
}

/** Returns the files that must be packed: the entries of a package, and the files every reader looks for. */
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
