import { open, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OutputChunk, OutputLine } from "../driver.ts";

export const OUTPUT_FILE = "output";

export interface OutputLimits {
  /** Read at a time. */
  chunkBytes: number;
  /** Of a line; the rest is left out. */
  lineBytes: number;
  /** Once read, a file of this size is emptied; at twice the size it is emptied unread. */
  fileBytes: number;
}

const LIMITS: OutputLimits = {
  chunkBytes: 512 * 1024,
  lineBytes: 64 * 1024, // logs cut it again, after secrets have been hidden
  fileBytes: 64 * 1024 * 1024,
};
const BASE_FILE = "output-base.json";
const NEWLINE = 0x0a;

/** Where the file's first byte stands in everything that was ever printed. */
interface Base {
  position: number;
  /** Bytes that are being removed from the file; 0 when none are. */
  removing: number;
}

/**
 * Whole lines from a position on. The instance appends to the file by itself, so that it needs nobody to read it;
 * emptying it is safe because appending always goes to where the end is now.
 */
export async function readOutput(
  folder: string,
  options: { position: number; isRunning: boolean; limits?: Partial<OutputLimits> },
): Promise<OutputChunk> {
  const limits = { ...LIMITS, ...options.limits };
  const path = join(folder, OUTPUT_FILE);
  const base = await settledBase(folder);
  const sizeBytes = await sizeOf(path);
  if (sizeBytes > 2 * limits.fileBytes) return dropAll(folder, base, sizeBytes);
  const position = Math.max(options.position, base.position);
  const newBytes = Math.max(0, base.position + sizeBytes - position);
  const bytes = await readFrom(path, position - base.position, Math.min(newBytes, limits.chunkBytes));
  const isLast = !options.isRunning && position - base.position + bytes.length >= sizeBytes;
  const lines = linesIn(bytes, { position, takeRest: isLast || bytes.length === limits.chunkBytes, limits });
  if (lines.nextPosition - base.position === sizeBytes && sizeBytes > limits.fileBytes)
    await empty(folder, base, sizeBytes);
  return lines;
}

/** The end of what was printed, for people who ask why it ended. */
export async function readLastOutput(folder: string, maxBytes: number): Promise<string> {
  const path = join(folder, OUTPUT_FILE);
  const sizeBytes = await sizeOf(path);
  const bytes = await readFrom(path, Math.max(0, sizeBytes - maxBytes), Math.min(sizeBytes, maxBytes));
  const start = sizeBytes > maxBytes ? bytes.indexOf(NEWLINE) + 1 : 0;
  return bytes.subarray(start).toString("utf8").trimEnd();
}

function linesIn(
  bytes: Buffer,
  options: { position: number; takeRest: boolean; limits: OutputLimits },
): OutputChunk {
  const lines: OutputLine[] = [];
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, start);
    // A line longer than a chunk is given in pieces; without that, whoever reads would stand still.
    const isPiece =
      newline < 0 && options.takeRest && (lines.length === 0 || bytes.length < options.limits.chunkBytes);
    if (newline < 0 && !(isPiece && start < bytes.length)) break;
    const end = newline < 0 ? bytes.length : newline;
    const cut = bytes.subarray(start, Math.min(end, start + options.limits.lineBytes));
    lines.push({ position: options.position + start, text: cut.toString("utf8").replace(/\r$/, "") });
    start = newline < 0 ? bytes.length : newline + 1;
  }
  return { lines, nextPosition: options.position + start };
}

async function dropAll(folder: string, base: Base, sizeBytes: number): Promise<OutputChunk> {
  await empty(folder, base, sizeBytes);
  const text = `[output dropped: the bot prints faster than it can be kept, at least ${sizeBytes} bytes are gone]`;
  return { lines: [{ position: base.position, text }], nextPosition: base.position + sizeBytes };
}

async function empty(folder: string, base: Base, sizeBytes: number): Promise<void> {
  const position = base.position + sizeBytes;
  await writeBase(folder, { position, removing: sizeBytes });
  await truncate(join(folder, OUTPUT_FILE), 0);
  await writeBase(folder, { position, removing: 0 });
}

// A crash may have come between the two writings; the size tells on which side of the emptying.
async function settledBase(folder: string): Promise<Base> {
  const base = await readBase(folder);
  if (base.removing === 0) return base;
  const path = join(folder, OUTPUT_FILE);
  if ((await sizeOf(path)) >= base.removing) await truncate(path, 0);
  const settled = { ...base, removing: 0 };
  await writeBase(folder, settled);
  return settled;
}

async function readBase(folder: string): Promise<Base> {
  try {
    return JSON.parse(await readFile(join(folder, BASE_FILE), "utf8")) as Base;
  } catch {
    return { position: 0, removing: 0 };
  }
}

async function writeBase(folder: string, base: Base): Promise<void> {
  const path = join(folder, BASE_FILE);
  await writeFile(`${path}.tmp`, JSON.stringify(base));
  await rename(`${path}.tmp`, path);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

async function readFrom(path: string, from: number, maxBytes: number): Promise<Buffer> {
  if (maxBytes === 0) return Buffer.alloc(0); // silent instances are asked several times a second
  await using file = await open(path, "r").catch(() => undefined);
  if (!file) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(maxBytes);
  const { bytesRead } = await file.read(buffer, 0, maxBytes, from);
  return buffer.subarray(0, bytesRead);
}
