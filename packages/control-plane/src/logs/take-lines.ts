import type { OutputChunk, OutputLine } from "@vocalhost/drivers/instance-records";
import type { OutputCursorRow } from "@vocalhost/store/schema";

/** How far one instance was read, and what it may still write. */
export interface Reading {
  cursor: Cursor;
  /** The second that is being counted. */
  windowStartMs: number;
  windowLines: number;
}

export type Cursor = Omit<OutputCursorRow, "updatedAt">;

export interface OutputLimits {
  linesPerSecond: number;
  /** Limit for one session's output, and for the output before and after a session. */
  bytesPerSession: number;
}

export interface Taken {
  reading: Reading;
  kept: OutputLine[];
  /** Stands where lines are missing, and says how many; replaces what it said before. */
  notice: OutputLine | undefined;
}

const WINDOW_MS = 1_000;

export function firstReading(instanceId: string): Reading {
  const cursor = {
    instanceId,
    nextPosition: 0,
    sessionId: null,
    storedBytes: 0,
    droppedFrom: null,
    droppedLines: 0,
  };
  return { cursor, windowStartMs: 0, windowLines: 0 };
}

export interface TakeOptions {
  sessionId: string | null;
  limits: OutputLimits;
  monotonicMs: number;
  /** The line as it will be stored. */
  toText(raw: string): string | Promise<string>;
}

/** Decides which lines of a chunk are stored. */
export async function takeLines(before: Reading, chunk: OutputChunk, options: TakeOptions): Promise<Taken> {
  const { limits, monotonicMs, sessionId } = options;
  const isNewWindow = before.windowLines === 0 || monotonicMs - before.windowStartMs >= WINDOW_MS;
  const isNewSession = before.cursor.sessionId !== sessionId;
  const run = { droppedFrom: null, droppedLines: 0 };
  const cursor: Cursor = { ...before.cursor, ...(isNewSession ? { sessionId, storedBytes: 0, ...run } : {}) };
  const reading: Reading = isNewWindow
    ? { cursor, windowStartMs: monotonicMs, windowLines: 0 }
    : { ...before, cursor };
  const kept: OutputLine[] = [];
  const hasDropped = cursor.droppedLines;

  for (const line of chunk.lines) {
    const text = await textIfAllowed(line);
    if (text === undefined) {
      cursor.droppedFrom ??= line.position;
      cursor.droppedLines += 1;
      continue;
    }
    Object.assign(cursor, run);
    kept.push({ position: line.position, text });
  }
  cursor.nextPosition = chunk.nextPosition;
  const isNews = cursor.droppedFrom !== null && (cursor.droppedLines !== hasDropped || kept.length > 0);
  return { reading, kept, notice: isNews ? noticeOf(cursor, limits) : undefined };

  async function textIfAllowed(line: OutputLine): Promise<string | undefined> {
    if (cursor.storedBytes >= limits.bytesPerSession || reading.windowLines >= limits.linesPerSecond)
      return undefined;
    const text = await options.toText(line.text);
    const bytes = Buffer.byteLength(text) + 1;
    if (cursor.storedBytes + bytes > limits.bytesPerSession) {
      cursor.storedBytes = limits.bytesPerSession; // no shorter line slips in later
      return undefined;
    }
    cursor.storedBytes += bytes;
    reading.windowLines += 1;
    return text;
  }
}

function noticeOf({ droppedFrom, droppedLines, storedBytes }: Cursor, limits: OutputLimits): OutputLine {
  const count = droppedLines === 1 ? "1 line was" : `${droppedLines} lines were`;
  const why =
    storedBytes >= limits.bytesPerSession
      ? `the session has written ${limits.bytesPerSession / 1024 / 1024} MiB`
      : `more than ${limits.linesPerSecond} in a second`;
  return { position: droppedFrom ?? 0, text: `… ${count} dropped: ${why}` };
}
