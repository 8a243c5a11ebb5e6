import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { OutputChunk, OutputLine } from "../instance-records.ts";

import { openPlainFile, readPlainText, replaceFile } from "./guarded-files.ts";

export const OUTPUT_FILE = "output";

export interface OutputLimits {
  /** Read at a time. */
  chunkBytes: number;
  /** The longest line; the rest is left out. */
  lineBytes: number;
  /** Once read, a file of this size is emptied; at twice the size it is emptied unread. */
  fileBytes: number;
}

interface ReadOptions {
  position: number;
  isRunning: boolean;
  limits?: Partial<OutputLimits>;
}

const LIMITS: OutputLimits = {
  chunkBytes: 512 * 1024,
  lineBytes: 64 * 1024, // logs cut it again, after secrets have been hidden
  fileBytes: 64 * 1024 * 1024,
};
const BASE_FILE = "output-base.json";
const KEPT_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

const BASE_MAX_BYTES = 1024;
// A bot that owns its folder can write the note and make its file as large as it likes. Positions are therefore
// limited to the range of every column; otherwise the output of other instances could not be stored either.
const PLACE_MAX = 2 ** 50;

const BaseFile = z.object({
  /** Position of the file's first byte in everything that was ever printed. */
  position: z.number().int().nonnegative().max(PLACE_MAX),
  /** Bytes that are being removed from the file; 0 when none are. */
  removing: z.number().int().nonnegative(),
});
type Base = z.infer<typeof BaseFile>;

/**
 * Returns whole lines from a position on. The instance appends to the file by itself and needs no reader. Emptying
 * the file is safe, because appending always writes at its current end. The rest is an unfinished line, or lines for
 * the next call.
 */
export async function readOutput(
  folder: string,
  options: ReadOptions,
): Promise<{ chunk: OutputChunk; restBytes: number }> {
  const limits = { ...LIMITS, ...options.limits };
  const path = join(folder, OUTPUT_FILE);
  const base = await settledBase(folder);
  const sizeBytes = await sizeOf(path);
  if (sizeBytes > 2 * limits.fileBytes)
    return { chunk: await dropAll(folder, base, sizeBytes), restBytes: 0 };
  const position = Math.max(options.position, base.position);
  const newBytes = Math.max(0, base.position + sizeBytes - position);
  const bytes = await readFrom(path, position - base.position, Math.min(newBytes, limits.chunkBytes));
  const isLast = !options.isRunning && position - base.position + bytes.length >= sizeBytes;
  const chunk = linesIn(bytes, { position, takeRest: isLast || bytes.length === limits.chunkBytes, limits });
  const restBytes = base.position + sizeBytes - chunk.nextPosition;
  if (restBytes === 0 && sizeBytes > limits.fileBytes) await empty(folder, base, sizeBytes);
  return { chunk, restBytes };
}

/** Returns the end of the output, which shows people why the instance ended. */
export async function readLastOutput(folder: string, maxBytes: number): Promise<string> {
  const path = join(folder, OUTPUT_FILE);
  const sizeBytes = await sizeOf(path);
  const bytes = await readFrom(path, Math.max(0, sizeBytes - maxBytes), Math.min(sizeBytes, maxBytes));
  const start = sizeBytes > maxBytes ? bytes.indexOf(NEWLINE) + 1 : 0;
  // A secret could not be recognised from the middle of a line on.
  if (sizeBytes > maxBytes && start === 0) return `(one line of more than ${maxBytes} bytes)`;
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
    // A line longer than a chunk comes in pieces; otherwise the reader would never get past it.
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
  return { lines: [{ position: base.position, text }], nextPosition: placeAfter(base, sizeBytes) };
}

/** On a full disk: what was printed and is longer than a screen goes, read or not. Gives the bytes that are free now. */
export async function dropOutput(folder: string): Promise<number> {
  const sizeBytes = await sizeOf(join(folder, OUTPUT_FILE));
  if (sizeBytes <= KEPT_BYTES) return 0;
  await empty(folder, await readBase(folder), sizeBytes);
  return sizeBytes;
}

async function empty(folder: string, base: Base, sizeBytes: number): Promise<void> {
  const position = placeAfter(base, sizeBytes);
  // Without space for the note the output is removed first; then there is space.
  await writeBase(folder, { position, removing: sizeBytes }).catch(ifNotFull);
  await emptyFile(join(folder, OUTPUT_FILE));
  await writeBase(folder, { position, removing: 0 });
}

function placeAfter({ position }: Base, bytes: number): number {
  return Math.min(position + bytes, PLACE_MAX);
}

// A crash may have come between the two writings; the size tells on which side of the emptying.
async function settledBase(folder: string): Promise<Base> {
  const base = await readBase(folder);
  if (base.removing === 0) return base;
  const path = join(folder, OUTPUT_FILE);
  if ((await sizeOf(path)) >= base.removing) await emptyFile(path);
  const settled = { ...base, removing: 0 };
  await writeBase(folder, settled);
  return settled;
}

async function readBase(folder: string): Promise<Base> {
  try {
    return BaseFile.parse(JSON.parse((await readPlainText(join(folder, BASE_FILE), BASE_MAX_BYTES)) ?? ""));
  } catch {
    return { position: 0, removing: 0 };
  }
}

async function writeBase(folder: string, base: Base): Promise<void> {
  await replaceFile(join(folder, BASE_FILE), JSON.stringify(base));
}

async function emptyFile(path: string): Promise<void> {
  await using file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await file.truncate(0);
}

function ifNotFull(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOSPC" && error.code !== "EDQUOT") throw error;
}

async function sizeOf(path: string): Promise<number> {
  await using file = await openPlainFile(path);
  return file ? (await file.stat()).size : 0;
}

async function readFrom(path: string, from: number, maxBytes: number): Promise<Buffer> {
  if (maxBytes === 0) return Buffer.alloc(0); // silent instances are asked several times a second
  await using file = await openPlainFile(path);
  if (!file) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(maxBytes);
  const { bytesRead } = await file.read(buffer, 0, maxBytes, from);
  return buffer.subarray(0, bytesRead);
}
