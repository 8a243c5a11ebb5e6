import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";

/** The parts of the data folder that grow. */
export const dataAreas = ["database", "builds", "instances", "uploads", "other"] as const;
export type DataArea = (typeof dataAreas)[number];

export interface DiskSpace {
  freeBytes: number;
  totalBytes: number;
}

/** Reads the space of the disk that holds the folder; `freeBytes` is what the service's user may still write. */
export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Measures every file, which takes seconds for large folders. A file that vanishes meanwhile counts as nothing. */
export async function measureDataFolder(
  folder: string,
  signal?: AbortSignal,
): Promise<Record<DataArea, number>> {
  const bytes: Record<DataArea, number> = { database: 0, builds: 0, instances: 0, uploads: 0, other: 0 };
  for (const name of await namesIn(folder))
    bytes[areaOf(name)] += await bytesUnder(join(folder, name), signal);
  return bytes;
}

function areaOf(name: string): DataArea {
  if (name.startsWith("vocalhost.db")) return "database"; // with its journal
  return dataAreas.find((area) => area === name) ?? "other";
}

const BLOCK_BYTES = 512;

// Blocks, not lengths: sparse files and the slack of small ones are what fills a disk or does not.
async function bytesUnder(path: string, signal: AbortSignal | undefined): Promise<number> {
  signal?.throwIfAborted();
  const entry = await lstat(path).catch(() => undefined);
  if (!entry) return 0;
  let bytes = entry.blocks * BLOCK_BYTES;
  if (entry.isDirectory())
    for (const name of await namesIn(path)) bytes += await bytesUnder(join(path, name), signal);
  return bytes;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
