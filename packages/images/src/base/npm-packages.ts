import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { folderEntries } from "../layers/folder-entries.ts";
import type { LayerEntry } from "../layers/layer-entry.ts";
import { toNodeArchitecture, type Platform } from "../platform.ts";
import { basePlaces, baseUser, inLayer } from "./base-places.ts";
import type { BuildFolder } from "../build-folder.ts";
import { isWantedOfNpm, NODE_VERSION, NPM_VERSION } from "./contents.ts";

/** The packages of the product that go into the image. */
export interface ProductPackages {
  /** Names for npm (`vocalhost@0.1.0`), or archives that `npm pack` made. */
  specs: readonly string[];
  /** A `package-lock.json` whose entries say which versions of everything else. @default the newest that fit */
  lock?: LockFile;
}

export const LockEntry = z.looseObject({
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
});
export const LockFile = z.looseObject({ packages: z.record(z.string(), LockEntry) });
export type LockFile = z.infer<typeof LockFile>;

export interface InstalledPackage {
  name: string;
  version: string;
  license: string | undefined;
}

const ROOT = { uid: 0, gid: 0 } as const;
const INSTALL_MS = 600_000;
const DOWNLOAD_MS = 300_000;

/** Our packages and all they need, for another processor than this one's if need be. No script of theirs is run. */
export async function installProduct(
  buildFolder: BuildFolder,
  platform: Platform,
  { specs, lock }: ProductPackages,
): Promise<{ entries: LayerEntry[]; packages: InstalledPackage[] }> {
  const folder = join(buildFolder.folder, `product-${platform.architecture}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "archives"), { recursive: true });
  const dependencies = Object.fromEntries(await Promise.all(specs.map((spec) => dependencyOf(spec, folder))));
  const manifest = { name: "vocalhost-base", private: true, dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  if (lock) await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
  const target = ["--os=linux", `--cpu=${toNodeArchitecture(platform)}`, "--libc=glibc"];
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--omit=dev"];
  await buildFolder.run("npm", [lock ? "ci" : "install", ...target, ...quiet], {
    purpose: "to install the packages of the image",
    cwd: folder,
    timeoutMs: INSTALL_MS,
  });
  const at = inLayer(basePlaces.product);
  const entries = await folderEntries({
    folder: join(folder, "node_modules"),
    at: `${at}/node_modules`,
    ...ROOT,
    keeps: isWantedOfNpm,
  });
  const installed = LockFile.parse(
    JSON.parse(await readFile(join(folder, "node_modules/.package-lock.json"), "utf8")),
  );
  return {
    entries: [
      { kind: "directory", path: "opt", mode: 0o755, ...ROOT },
      { kind: "directory", path: at, mode: 0o755, ...ROOT },
      ...entries,
      // Bots that bring no copy of their own find these: every folder's search ends at the root.
      { kind: "symlink", path: "node_modules", target: `${at}/node_modules`, mode: 0o777, ...ROOT },
      // Its own, so that npm can install there in a Dockerfile; in the service all of it is read-only.
      { kind: "directory", path: inLayer(basePlaces.app), mode: 0o755, uid: baseUser.uid, gid: baseUser.gid },
    ],
    packages: Object.entries(installed.packages).map(([path, { version = "", license }]) => ({
      name: path.replace(/^.*node_modules\//, ""),
      version,
      license,
    })),
  };
}

/** Node and npm, where the official image has them. */
export async function makeNode(buildFolder: BuildFolder, platform: Platform): Promise<LayerEntry[]> {
  const architecture = toNodeArchitecture(platform);
  const program = await findNode(buildFolder, architecture);
  const npm = await unpackFromNpm(buildFolder, `npm@${NPM_VERSION}`);
  const directories = ["usr", "usr/local", "usr/local/bin", "usr/local/lib", "usr/local/lib/node_modules"];
  const npmFolder = "usr/local/lib/node_modules/npm";
  const link = (name: string): LayerEntry => ({
    kind: "symlink",
    path: `usr/local/bin/${name}`,
    target: `../lib/node_modules/npm/bin/${name}-cli.js`,
    mode: 0o777,
    ...ROOT,
  });
  return [
    ...directories.map((path): LayerEntry => ({ kind: "directory", path, mode: 0o755, ...ROOT })),
    { kind: "file", path: inLayer(basePlaces.node), source: program, mode: 0o755, ...ROOT },
    ...(await folderEntries({ folder: npm, at: npmFolder, ...ROOT, keeps: isWantedOfNpmItself })),
    link("npm"),
    link("npx"),
  ];
}

/** The one we run on, if it came from the same package. */
async function findNode(buildFolder: BuildFolder, architecture: string): Promise<string> {
  const own = await realpath(process.execPath);
  const isSame =
    process.version === `v${NODE_VERSION}` && own.endsWith(`node-linux-${architecture}/bin/node`);
  if (isSame) return own;
  return join(await unpackFromNpm(buildFolder, `node-linux-${architecture}@${NODE_VERSION}`), "bin/node");
}

async function unpackFromNpm(buildFolder: BuildFolder, spec: string): Promise<string> {
  const folder = join(buildFolder.folder, "npm", spec);
  const unpacked = join(folder, "package");
  if (existsSync(join(folder, "whole"))) return unpacked;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await buildFolder.run("npm", ["pack", "--ignore-scripts", "--prefer-offline", spec], {
    purpose: `to download ${spec}`,
    cwd: folder,
    timeoutMs: DOWNLOAD_MS,
  });
  const archive = `${spec.replace("@", "-")}.tgz`;
  await buildFolder.run("tar", ["-xzf", archive], {
    purpose: `to unpack ${spec}`,
    cwd: folder,
    timeoutMs: DOWNLOAD_MS,
  });
  await rm(join(folder, archive));
  await writeFile(join(folder, "whole"), "");
  return unpacked;
}

/** npm's help is shown from its own documents. */
function isWantedOfNpmItself(path: string, isDirectory: boolean): boolean {
  return isDirectory || path.startsWith("docs/") || path.startsWith("man/")
    ? !/^(?:docs|man)(?:\/|$)/.test(path)
    : isWantedOfNpm(path);
}

/** Archives are copied, so that what npm writes down does not name folders of this machine. */
async function dependencyOf(spec: string, folder: string): Promise<[string, string]> {
  if (!spec.endsWith(".tgz")) {
    const at = spec.lastIndexOf("@");
    return [spec.slice(0, at), spec.slice(at + 1)];
  }
  await copyFile(spec, join(folder, "archives", basename(spec)));
  return [nameOfArchive(spec), `file:archives/${basename(spec)}`];
}

/** `vocalhost-viva-0.1.0.tgz` is of `@vocalhost/viva`. */
export function nameOfArchive(file: string): string {
  const [, name = ""] = /^(.+?)-\d+\.\d+\.\d+.*\.tgz$/.exec(basename(file)) ?? [];
  if (!name) throw new Error(`${join(dirname(file), basename(file))} is not an archive that npm packed`);
  return name.startsWith("vocalhost-") ? `@vocalhost/${name.slice("vocalhost-".length)}` : name;
}
