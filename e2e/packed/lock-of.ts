import { readFileSync } from "node:fs";
import { join } from "node:path";

const REPOSITORY = join(import.meta.dirname, "../..");

interface LockedPackage {
  name?: string;
  version?: string;
  resolved?: string;
  link?: boolean;
  [other: string]: unknown;
}

interface Lock {
  packages: Record<string, LockedPackage>;
}

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  /** Our packages that others of ours depend on, from the project's folder. */
  overrides: Record<string, string>;
}

/** The lock file of a project that was made from the archive: everything foreign in the version this repository has. */
export function lockOf(project: string, registry: string): object {
  const { name, version, dependencies, devDependencies, overrides } = readJson(
    join(project, "package.json"),
  ) as Manifest;
  const sources = { ...dependencies, ...devDependencies, ...overrides };
  const { packages } = readJson(join(REPOSITORY, "package-lock.json")) as Lock;
  const locked: Record<string, object> = { "": { name, version, dependencies, devDependencies } };
  for (const [path, each] of Object.entries(packages)) {
    if (each.link) continue;
    const [own = ""] = /^packages\/[^/]+/.exec(path) ?? [];
    const ownName = packages[own]?.name ?? "";
    if (path.startsWith("node_modules/"))
      locked[path] = { ...each, resolved: addressOf(path, each, registry) };
    else if (path === own && ownName in sources)
      locked[`node_modules/${ownName}`] = {
        ...each,
        devDependencies: undefined,
        resolved: sources[ownName],
      };
    else if (own && ownName in sources)
      locked[path.replace(own, `node_modules/${ownName}`)] = {
        ...each,
        resolved: addressOf(path, each, registry),
      };
  }
  return { name, lockfileVersion: 3, requires: true, packages: locked };
}

function addressOf(path: string, { name, version }: LockedPackage, registry: string): string {
  const whole = name ?? path.split("node_modules/").at(-1) ?? "";
  return `${registry}${whole}/-/${whole.split("/").at(-1)}-${version}.tgz`;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
