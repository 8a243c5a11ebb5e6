// Packs the packages that go into the base image, with the versions of everything else that the repository has locked.
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLED_PACKAGES, bundlePackage } from "./bundle.ts";

/** Each in `packages/`; their own versions are all the same. */
export const PRODUCT_PACKAGES = ["carriers", "protocol", "audio", "rooms", "sdk", "viva"];

const repository = fileURLToPath(new URL("../", import.meta.url));

interface Lock {
  lockfileVersion: number;
  packages: Record<string, LockEntry>;
}

interface LockEntry {
  name?: string;
  version?: string;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Archives as `npm pack` makes them. Built aside: others may be building or reading `dist/` meanwhile. */
export async function packProduct(folder: string): Promise<{ archives: string[]; lock: Lock }> {
  rmSync(folder, { recursive: true, force: true });
  const destination = join(folder, "archives");
  mkdirSync(destination, { recursive: true });
  const asides: string[] = [];
  for (const name of PRODUCT_PACKAGES) {
    const source = join(repository, "packages", name);
    const aside = join(folder, name);
    mkdirSync(aside);
    for (const file of ["package.json", "LICENSE", "NOTICE", "models", "wasm"])
      cpSync(join(source, file), join(aside, file), { recursive: true, filter: exists });
    const dist = join(aside, "dist");
    const quick = ["--noCheck", "--declaration", "false", "--outDir", dist];
    if (BUNDLED_PACKAGES.includes(name)) await bundlePackage(name, dist);
    else run(repository, "node_modules/.bin/tsc", "-p", join(source, "tsconfig.build.json"), ...quick);
    asides.push(aside);
  }
  run(folder, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", destination, ...asides);
  for (const aside of asides) rmSync(aside, { recursive: true });
  const archives = globSync("*.tgz", { cwd: destination }).toSorted();
  const lock = lockOf(archives);
  // A project, for `npm ci` in images/base/Dockerfile and for `vocalhost image build --base --packages`.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, ...lock.packages[""] }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  return { archives: archives.map((file) => join(destination, file)), lock };
}

/** Returns the part of the repository's lock file that our packages need, as if an empty project had installed them. */
function lockOf(archives: readonly string[]): Lock {
  const { lockfileVersion, packages } = JSON.parse(
    readFileSync(join(repository, "package-lock.json"), "utf8"),
  ) as Lock;
  const taken: Lock["packages"] = {};
  const dependencies: Record<string, string> = {};
  const take = (from: string, name: string): void => {
    const found = find(packages, from, name);
    if (found === undefined || found in taken) return;
    const entry = packages[found];
    if (!entry || entry.link) return; // one of ours
    const { dev: _dev, ...rest } = entry;
    taken[found] = rest;
    for (const next of needed(entry)) take(found, next);
  };
  for (const folder of PRODUCT_PACKAGES) {
    const { name = "", version, ...entry } = packages[`packages/${folder}`] ?? {};
    const archive = archives.find((file) =>
      file.startsWith(`${name.replace("@", "").replace("/", "-")}-${version}`),
    );
    const resolved = `file:archives/${basename(archive ?? "")}`;
    dependencies[name] = resolved;
    taken[`node_modules/${name}`] = {
      version: version ?? "",
      resolved,
      dependencies: entry.dependencies ?? {},
    };
    for (const next of needed(entry)) take(`packages/${folder}`, next);
  }
  return { lockfileVersion, packages: { "": { name: "vocalhost-base", dependencies }, ...taken } };
}

function needed({ dependencies, optionalDependencies, peerDependencies }: LockEntry): string[] {
  return Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies });
}

/** As Node looks for packages: in every folder above. */
function find(packages: Lock["packages"], from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("/"), 0))) {
    const path = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (path in packages) return path;
    if (at === "") return undefined;
  }
}

function exists(path: string): boolean {
  return globSync(path).length > 0;
}

function run(cwd: string, command: string, ...args: string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}\n${stderr}`);
}
