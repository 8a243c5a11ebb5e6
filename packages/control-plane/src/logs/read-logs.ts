import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import type { LogLineRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import {
  countLines,
  type LogFilter,
  type LogScope,
  type Place,
  placeAfter,
  scanLines,
  type ScannedLine,
} from "./scan-lines.ts";

export interface LogQuery extends LogFilter {
  /** @default 10 */
  limit?: number;
  /** @default 0 */
  offset?: number;
  /** @default "desc" */
  order?: "asc" | "desc";
}

export interface LogPage {
  /** `gte`: there are more, but they were not counted. */
  total: { value: number; relation: "eq" | "gte" };
  logs: LogEntry[];
}

export interface LogEntry {
  log: string;
  /** With nanoseconds. */
  timestamp: string;
  deploymentId: string;
}

export interface ReadLimits {
  /** Limit for the lines of one page; a page always has at least one line. */
  pageBytes: number;
  /** After so long an answer is what was found until then. */
  searchMs: number;
  /** How long the rest is counted once the page is full. */
  countMs: number;
  countMax: number;
}

const LIMITS: ReadLimits = {
  pageBytes: 4 * 1024 * 1024,
  searchMs: 5_000,
  countMs: 500,
  countMax: 100_000,
};

/** A page of an agent's log, as the public interface shows it. */
export async function readLogs(
  store: Store,
  organizationId: OrganizationId,
  agentIds: readonly string[],
  { limit = 10, offset = 0, order = "desc", ...filter }: LogQuery,
  limits: Partial<ReadLimits> = {},
): Promise<LogPage> {
  const { searchMs, countMs, countMax, pageBytes } = { ...LIMITS, ...limits };
  const scope: LogScope = { organizationId, agentIds, ...filter };
  const isSearch = filter.query !== undefined && filter.query !== "";
  const startedMs = performance.now();
  const page = createPage({ limit, pageBytes, skip: isSearch ? offset : 0 });
  const counted = isSearch ? undefined : await countLines(store, scope, countMax + 1);
  const after =
    isSearch || offset === 0
      ? undefined
      : await placeAfter(store, scope, { order, after: undefined, lines: offset });
  const isPast = counted !== undefined && offset > 0 && after === undefined;
  let isWhole = false;
  for await (const part of isPast ? [] : scanLines(store, scope, { order, after, lines: limit })) {
    for (const line of part.lines) page.add(line);
    isWhole = part.place === undefined;
    const tookMs = performance.now() - startedMs;
    if (page.isFull && (!isSearch || tookMs > countMs || page.fitting > countMax)) break;
    if (tookMs > searchMs) break;
  }
  const total =
    counted === undefined
      ? ({ value: page.fitting, relation: isWhole ? "eq" : "gte" } as const)
      : counted <= countMax
        ? ({ value: counted, relation: "eq" } as const)
        : ({ value: Math.max(countMax, offset + page.lines.length), relation: "gte" } as const);
  return { total, logs: page.lines.map(toEntry) };
}

/** Takes lines until it has as many, or as many bytes, as one answer may hold. */
function createPage({ limit, pageBytes, skip }: { limit: number; pageBytes: number; skip: number }) {
  const lines: ScannedLine[] = [];
  let [fitting, bytes, isFull] = [0, 0, limit === 0];
  return {
    lines,
    get fitting() {
      return fitting;
    },
    get isFull() {
      return isFull;
    },
    add(line: ScannedLine): void {
      fitting += 1;
      if (isFull || fitting <= skip) return;
      bytes += Buffer.byteLength(line.text);
      if (bytes <= pageBytes || lines.length === 0) lines.push(line);
      isFull = bytes > pageBytes || lines.length === limit;
    },
  };
}

export interface TailQuery extends LogFilter {
  /** From an earlier answer. Without it, the newest lines. */
  afterCursor?: string;
  /** @default 100 */
  limit?: number;
}

export interface Tail {
  lines: TailLine[];
  /** Where to go on, also when there was nothing new. */
  cursor: string;
}

export interface TailLine extends LogEntry {
  sessionId: string | null;
  instanceId: string;
  cursor: string;
}

/** Lines in order after a cursor, for following a log as it grows. */
export async function tailLogs(
  store: Store,
  organizationId: OrganizationId,
  agentIds: readonly string[],
  query: TailQuery,
  limits: Partial<ReadLimits> = {},
): Promise<Tail> {
  const { afterCursor, limit = 100, ...filter } = query;
  const { searchMs, pageBytes } = { ...LIMITS, ...limits };
  const scope: LogScope = { organizationId, agentIds, ...filter };
  const order = afterCursor === undefined ? "desc" : "asc";
  const after = afterCursor === undefined ? undefined : parseCursor(afterCursor);
  const startedMs = performance.now();
  const page = createPage({ limit, pageBytes, skip: 0 });
  // Looked up before anything is read, so that nothing comes between.
  let seen = after ?? (await placeAfter(store, { organizationId, agentIds }, { order, after, lines: 1 }));
  for await (const part of scanLines(store, scope, { order, after, lines: limit })) {
    for (const line of part.lines) page.add(line);
    if (order === "asc") seen = page.isFull ? page.lines.at(-1) : (part.place ?? part.lines.at(-1) ?? seen);
    if (page.isFull || performance.now() - startedMs > searchMs) break;
  }
  if (order === "desc") {
    seen = later(seen, page.lines[0]);
    page.lines.reverse();
  }
  const found = page.lines.map((row) => ({
    ...toEntry(row),
    sessionId: row.sessionId,
    instanceId: row.instanceId,
    cursor: toCursor(row),
  }));
  return { lines: found, cursor: seen ? toCursor(seen) : (afterCursor ?? "0_0_0_") };
}

function toEntry({
  text,
  at,
  nanos,
  deploymentId,
}: Pick<LogLineRow, "text" | "at" | "nanos" | "deploymentId">) {
  const timestamp = `${new Date(at).toISOString().slice(0, -1)}${String(nanos).padStart(6, "0")}Z`;
  return { log: text, timestamp, deploymentId };
}

function toCursor({ at, nanos, position, instanceId }: Place): string {
  return `${at}_${nanos}_${position}_${instanceId}`;
}

function later(one: Place | undefined, other: Place | undefined): Place | undefined {
  if (!one || !other) return one ?? other;
  const isLater = one.at - other.at || one.nanos - other.nanos;
  return isLater >= 0 ? one : other;
}

function parseCursor(cursor: string): Place {
  const parts = /^(\d{1,15})_(\d{1,6})_(\d{1,15})_(.*)$/.exec(cursor);
  if (!parts) throw new AppError("GENERIC_BAD_REQUEST", { message: "The cursor is not valid" });
  const [, at, nanos, position, instanceId = ""] = parts;
  return { at: Number(at), nanos: Number(nanos), position: Number(position), instanceId };
}
