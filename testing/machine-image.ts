import { folderEntries, type LayerEntry } from "@vocalhost/images";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isBuilt } from "./programs.ts";

export const BOT_USER = 10001;
const REPOSITORY = resolve(import.meta.dirname, "..");
const PROGRAMS = isBuilt ? "dist" : "src";

/** Node, other programs of this machine by their paths, and the libraries they need: enough for an image to start with. */
export function programEntries(others: string[] = []): LayerEntry[] {
  const node = realpathSync(process.execPath);
  const { stdout } = spawnSync("ldd", [node, ...others], { encoding: "utf8" });
  const needed = [...stdout.matchAll(/(\/\S+)(?= \()/g)].map(([path]) => path);
  const libraries = [...new Set([...needed, ...others])];
  const folders = ["usr/local/bin/", "app/node_modules/", "etc/", "proc/", "sys/", "dev/", "run/"];
  return [
    ...directoriesOf([...folders.map((path) => `${path}.`), ...libraries.map((path) => path.slice(1))]).map(
      directory,
    ),
    { ...directory("tmp"), mode: 0o1777 },
    directory("run/vocalhost"),
    { ...place("usr/local/bin/node", 0o755), kind: "file", source: node },
    ...libraries.map((path): LayerEntry => ({
      ...place(path.slice(1), 0o755),
      kind: "file",
      source: realpathSync(path),
    })),
    text("etc/passwd", `bot:x:${BOT_USER}:${BOT_USER}::/app:/usr/sbin/nologin\n`),
    text("etc/group", `bot:x:${BOT_USER}:\n`),
    text("app/package.json", `{ "type": "module" }`),
    { ...place("app/node_modules/vocalhost", 0o777), kind: "symlink", target: "/vocalhost/packages/sdk" },
  ];
}

/** Returns packages of this repository as they are, in `/vocalhost`, with what they depend on. */
export async function packageEntries(
  names: string[],
  isLeftOut: (dependency: string) => boolean,
): Promise<LayerEntry[]> {
  const packages = names.map((name) => `packages/${name}`);
  const entries: LayerEntry[] = [];
  for (const name of packages)
    for (const part of [PROGRAMS, "package.json"]) {
      const source = join(REPOSITORY, name, part);
      const at = `vocalhost/${name}/${part}`;
      if (part === PROGRAMS)
        entries.push(
          ...(await folderEntries({
            folder: source,
            at,
            uid: 0,
            gid: 0,
            keeps: (path) => !/\.(?:test|d)\.ts$/.test(path),
          })),
        );
      else entries.push({ ...place(at, 0o644), kind: "file", source });
    }
  const modules = closureOf(
    packages.map((name) => join(REPOSITORY, name)),
    isLeftOut,
  );
  for (const folder of modules)
    entries.push(
      ...(await folderEntries({
        folder,
        at: `vocalhost/${relative(REPOSITORY, folder)}`,
        uid: 0,
        gid: 0,
        keeps: (path) =>
          !/^(?:node_modules|tests?|docs)$|\.(?:map|md|d\.[cm]?ts)$/.test(path) &&
          (path !== "src" || !existsSync(join(folder, "dist"))), // what the other was made of
      })),
    );
  for (const name of names)
    entries.push({
      ...place(`vocalhost/node_modules/${name === "sdk" ? "vocalhost" : `@vocalhost/${name}`}`, 0o777),
      kind: "symlink",
      target: `${name === "sdk" ? "" : "../"}../packages/${name}`,
    });
  const known = new Set(entries.map(({ path }) => path));
  const parents = directoriesOf([...known]).filter((path) => !known.has(path));
  return [...parents.map(directory), ...entries];
}

/** Where a file of this repository is in an image. */
export function inImage(path: string): string {
  return `/vocalhost/${relative(REPOSITORY, path)}`;
}

const OF_ALL = ["dependencies", "optionalDependencies"];
/** Sources also need the packages that a build bundles. */
const OF_OURS = [...OF_ALL, "peerDependencies", ...(isBuilt ? [] : ["devDependencies"])];

/** Returns the folders of all packages that these depend on, found as Node finds them. */
function closureOf(packages: string[], isLeftOut: (name: string) => boolean): string[] {
  const found = new Set<string>();
  const waiting = [...packages];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, object>;
    const kinds = packages.includes(folder) ? OF_OURS : OF_ALL;
    for (const name of kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}))) {
      const place = isLeftOut(name) ? undefined : findModule(name, folder);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      waiting.push(place);
    }
  }
  return [...found];
}

function findModule(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(REPOSITORY); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(candidate)) return candidate;
  }
  return undefined;
}

function directoriesOf(paths: string[]): string[] {
  const all = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) all.add(folder);
  return [...all];
}

function place(path: string, mode: number) {
  return { path, mode, uid: 0, gid: 0 };
}

function directory(path: string): LayerEntry {
  return { ...place(path, 0o755), kind: "directory" };
}

function text(path: string, content: string): LayerEntry {
  return { ...place(path, 0o644), kind: "file", source: Buffer.from(content) };
}
