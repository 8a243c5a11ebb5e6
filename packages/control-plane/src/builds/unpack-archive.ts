import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, open, realpath, stat, symlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BuildProblem } from "./build-problem.ts";
import { type Fold, requireInside, settleLinks } from "./keep-links-inside.ts";

export interface UnpackLimits {
  bytes: number;
  entries: number;
}

export const UNPACK_LIMITS: UnpackLimits = { bytes: 2 * 1024 ** 3, entries: 100_000 };

const NAME_MAX_BYTES = 1_024;
const DEPTH_MAX = 64; // deeper than any real tree, and a limit for the folders of one path
const FOLDER_BYTES = 4_096; // the size of an empty folder on most disks

/** Unpacks into an empty folder. Refuses every entry that would be written elsewhere. */
export async function unpackArchive(
  archive: string,
  folder: string,
  limits: UnpackLimits = UNPACK_LIMITS,
): Promise<{ entries: number; bytes: number }> {
  const root = await realpath(folder);
  const links: { path: string; target: string }[] = [];
  const file = createReadStream(archive);
  const gunzip = createGunzip();
  file.on("error", (error) => gunzip.destroy(error));
  const bytesOut = Readable.toWeb(file.pipe(gunzip)) as ReadableStream<Uint8Array>;
  const tally = createTally(limits);
  try {
    for await (const entry of bytesOut.pipeThrough(createTarDecoder({ strict: true }))) {
      tally.add({ entries: 1, bytes: await sizeOf(entry, root) });
      tally.add(await makeFolders(entry, root));
      const link = await place(entry, root);
      if (link) links.push(link);
    }
  } catch (error) {
    if (error instanceof BuildProblem) throw error;
    throw new BuildProblem(
      `The archive cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    file.destroy();
    gunzip.destroy();
  }
  await makeLinks(links, root);
  return tally.seen();
}

interface Tally {
  add(more: { entries: number; bytes: number }): void;
  seen(): { entries: number; bytes: number };
}

function createTally(limits: UnpackLimits): Tally {
  let [entries, bytes] = [0, 0];
  return {
    add(more) {
      entries += more.entries;
      bytes += more.bytes;
      if (entries > limits.entries)
        throw new BuildProblem(`The archive has more than ${limits.entries} entries, folders included`);
      if (bytes > limits.bytes)
        throw new BuildProblem(`The archive has more than ${limits.bytes} bytes unpacked`);
    },
    seen: () => ({ entries, bytes }),
  };
}

/** A hard link becomes a copy, so it counts with the size of its target. */
async function sizeOf({ header }: ParsedTarEntry, root: string): Promise<number> {
  if (header.type !== "link") return header.size;
  const named = await stat(pathOf(header.linkname ?? "", root));
  return Math.max(header.size, named.size);
}

/** Creates an entry's folders. Archives may omit them, so each counts: a short archive could create millions. */
async function makeFolders(
  { header }: ParsedTarEntry,
  root: string,
): Promise<{ entries: number; bytes: number }> {
  const path = pathOf(header.name, root);
  const isFolder = header.type === "directory";
  const folder = isFolder || path === root ? path : dirname(path);
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return { entries: 0, bytes: 0 };
  const made = depthOf(folder) - depthOf(first) + 1;
  return { entries: isFolder ? made - 1 : made, bytes: made * FOLDER_BYTES };
}

function depthOf(path: string): number {
  return path.split(sep).length;
}

async function place(
  { header, body }: ParsedTarEntry,
  root: string,
): Promise<{ path: string; target: string } | undefined> {
  const path = pathOf(header.name, root);
  const { type = "file" } = header;
  const isRoot = path === root;
  if (type !== "file" || isRoot) await body.cancel(); // the next entry comes once this one was read or cancelled
  if (isRoot) return undefined;
  switch (type) {
    case "file":
      await writeNew(path, { body, isProgram: ((header.mode ?? 0) & 0o111) !== 0, name: header.name });
      return undefined;
    case "directory":
      return undefined;
    case "link":
      await copyFile(pathOf(header.linkname ?? "", root), path);
      return undefined;
    case "symlink":
      return { path, target: header.linkname ?? "" };
    default:
      throw new BuildProblem(`The archive holds a ${type}: ${header.name}`);
  }
}

// No symbolic link exists on the disk yet, so the text of a path decides whether it is inside.
function pathOf(name: string, root: string): string {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  const isOdd = name.startsWith("/") || parts.includes("..") || /[\0\\]/.test(name);
  if (isOdd || Buffer.byteLength(name) > NAME_MAX_BYTES)
    throw new BuildProblem(
      `The archive holds a path that leaves its folder: ${JSON.stringify(name.slice(0, 200))}`,
    );
  if (parts.length > DEPTH_MAX)
    throw new BuildProblem(
      `The archive holds a path of more than ${DEPTH_MAX} parts: ${JSON.stringify(name.slice(0, 200))}. Put it less deep`,
    );
  return join(root, ...parts);
}

async function writeNew(
  path: string,
  file: { body: ReadableStream<Uint8Array>; isProgram: boolean; name: string },
): Promise<void> {
  await using handle = await open(path, "wx", file.isProgram ? 0o755 : 0o644).catch((cause: unknown) => {
    throw new BuildProblem(`The archive holds a path twice: ${file.name}`, { cause });
  });
  for await (const bytes of file.body) await handle.writeFile(bytes);
}

async function makeLinks(links: { path: string; target: string }[], root: string): Promise<void> {
  const fold: Fold = { root, holder: "archive" };
  for (const link of links) {
    requireInside(link, fold);
    await symlink(link.target, link.path);
  }
  await settleLinks(
    links.map(({ path }) => path),
    fold,
  );
}
