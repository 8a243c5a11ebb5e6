import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Problem, usageProblem } from "../problem.ts";
import { createIgnoreRules, type IgnoreRules } from "./ignore-rules.ts";

/** A bot's folder as it is uploaded: the same files give the same bytes. */
export interface PackedFolder {
  archive: Uint8Array<ArrayBuffer>;
  /** The service's digest of these files. */
  contextHash: string;
  files: string[];
  unpackedBytes: number;
  /** Links are not followed. */
  linksLeftOut: string[];
}

interface PackOptions {
  folder: string;
  /** Besides those of `.dockerignore`, or else `.gitignore`. */
  exclude: readonly string[];
  signal?: AbortSignal;
}

const CONTEXT_MAX_BYTES = 500 * 1024 * 1024;
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

/** Reads a folder's ignore file. */
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

/** One file of an archive. */
interface ArchiveFile {
  /** Relative, with forward slashes. */
  name: string;
  isProgram: boolean;
  bytes: Uint8Array;
}

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** An archive whose bytes depend on names and contents only: no times, no owners. */
function createTar(files: readonly ArchiveFile[]): Uint8Array {
  const parts = files.flatMap((file) => [...longName(file.name), ...entry(file, "0")]);
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK_BYTES)]);
}

/** Names that the header has no space for go into an entry before it. */
function longName(name: string): Uint8Array[] {
  if (splitName(name)) return [];
  const bytes = Buffer.from(paxRecord("path", name));
  return entry({ name: "PaxHeader", isProgram: false, bytes }, "x");
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  // The length counts its own digits.
  let length = bytes + 1;
  while (length !== bytes + String(length).length) length += 1;
  return `${length}${rest}`;
}

function entry(file: ArchiveFile, type: "0" | "x"): Uint8Array[] {
  const padding = (BLOCK_BYTES - (file.bytes.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return [header(file, type), file.bytes, new Uint8Array(padding)];
}

function header({ name, isProgram, bytes }: ArchiveFile, type: "0" | "x"): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  const fitting = splitName(name) ?? { name: "long-name", prefix: "" };
  block.write(fitting.name, 0);
  block.write(`${octal(isProgram ? 0o755 : 0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.write(`${octal(bytes.length, 11)}\0${octal(0, 11)}\0`, 124);
  block.write(" ".repeat(8), 148); // the sum is made with blanks in its own place
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  block.write(fitting.prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** As one name, or a prefix and a name, that fit into a header. */
function splitName(path: string): { name: string; prefix: string } | undefined {
  if (/[^ -~]/.test(path)) return undefined;
  if (path.length <= NAME_BYTES) return { name: path, prefix: "" };
  const cut = path.lastIndexOf("/", PREFIX_BYTES);
  if (cut <= 0 || path.length - cut - 1 > NAME_BYTES) return undefined;
  return { name: path.slice(cut + 1), prefix: path.slice(0, cut) };
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
