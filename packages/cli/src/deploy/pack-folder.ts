import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Problem, usageProblem } from "../problem.ts";
import { createIgnoreRules, type IgnoreRules } from "./ignore-rules.ts";
import { createTar } from "./tar.ts";

/** A bot's folder as it is uploaded: the same files give the same bytes. */
export interface PackedFolder {
  archive: Uint8Array<ArrayBuffer>;
  /** What the service calls these files. */
  contextHash: string;
  files: string[];
  unpackedBytes: number;
  /** Links are not followed. */
  linksLeftOut: string[];
}

export interface PackOptions {
  folder: string;
  /** Besides those of `.dockerignore`, or else `.gitignore`. */
  exclude: readonly string[];
  signal?: AbortSignal;
}

export const CONTEXT_MAX_BYTES = 500 * 1024 * 1024;
const HASH_DIGITS = 16;

export async function packFolder({ folder, exclude, signal }: PackOptions): Promise<PackedFolder> {
  const root = resolve(folder);
  const isFolder = await stat(root)
    .then((found) => found.isDirectory())
    .catch(() => false);
  if (!isFolder) throw usageProblem(`There is no folder ${root}`, "Give the bot's folder with --build-dir.");
  const rules = createIgnoreRules([...(await ignoreFileLines(root)), ...exclude]);
  const found: Found = { files: [], links: [] };
  await collect({ root, below: "", rules, found });
  const names = found.files.sort(byBytes);
  if (names.length === 0)
    throw new Problem("nothing_to_build", `There are no files to build in ${root}`, {
      fixes: [
        "Is this the bot's folder? Give another with --build-dir.",
        "Check what .dockerignore leaves out.",
      ],
    });
  let unpackedBytes = 0;
  const files = [];
  for (const name of names) {
    signal?.throwIfAborted();
    const path = join(root, name);
    const { mode, size } = await stat(path);
    unpackedBytes += size;
    if (unpackedBytes > CONTEXT_MAX_BYTES) throw tooLarge(root);
    files.push({ name, isProgram: (mode & 0o111) !== 0, bytes: await readFile(path) });
  }
  const tar = createTar(files);
  // Hashed before compression, so the same files hash alike whichever tool compresses them.
  const contextHash = createHash("md5").update(tar).digest("hex").slice(0, HASH_DIGITS);
  const archive = new Uint8Array(await promisify(gzip)(tar));
  return { archive, contextHash, files: names, unpackedBytes, linksLeftOut: found.links };
}

interface Found {
  files: string[];
  links: string[];
}

async function collect(place: {
  root: string;
  below: string;
  rules: IgnoreRules;
  found: Found;
}): Promise<void> {
  const { root, below, rules, found } = place;
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (rules(name, entry.isDirectory())) continue;
    if (entry.isDirectory()) await collect({ ...place, below: name });
    else if (entry.isFile()) found.files.push(name);
    else if (entry.isSymbolicLink()) found.links.push(name);
  }
}

/** What a folder says it leaves out. */
export async function ignoreFileLines(root: string): Promise<string[]> {
  const file = [".dockerignore", ".gitignore"].map((name) => join(root, name)).find(existsSync);
  return file === undefined ? [] : (await readFile(file, "utf8")).split("\n");
}

function byBytes(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function tooLarge(root: string): Problem {
  return new Problem("context_too_large", `${root} holds more than 500 MiB`, {
    why: "A bot is built from at most 500 MiB of files.",
    fixes: [
      "Leave out what the bot does not need: [build.exclude] patterns in vocalhost.toml, or .dockerignore.",
    ],
  });
}
