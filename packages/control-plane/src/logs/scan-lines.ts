import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import type { OrganizationId } from "../identity/principal.ts";
import type { LogLineRow, Schema } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";

export interface LogFilter {
  deploymentId?: string;
  sessionId?: string;
  /** Text the line contains; capitals do not matter. */
  query?: string;
  /** Unix seconds, both ends included. */
  startTime?: number;
  endTime?: number;
}

export interface LogScope extends LogFilter {
  organizationId: OrganizationId;
  agentIds: readonly string[];
}

/** Where a line stands among all others. */
export type Place = Pick<LogLineRow, "at" | "nanos" | "position" | "instanceId">;
export type ScannedLine = Omit<LogLineRow, "organizationId" | "agentId">;

export interface ScannedPart {
  lines: ScannedLine[];
  /** Everything up to here was looked at; undefined at the end. */
  place: Place | undefined;
}

const PART_LINES = 500;
const PART_LINES_MAX = 20_000;

/**
 * Looks through lines part by part, so that no statement takes long and no part is large, however many lines there
 * are and however few of them fit. The caller stops when it has enough lines or runs out of time.
 */
export async function* scanLines(
  store: Store,
  scope: LogScope,
  { order, after, lines: wanted }: Range & { lines: number },
): AsyncGenerator<ScannedPart, void> {
  const partLines = scope.query ? PART_LINES : Math.min(Math.max(wanted, 1), PART_LINES);
  let place = after;
  let width = partLines;
  for (;;) {
    const end = await placeAfter(store, scope, { order, after: place, lines: width });
    const lines = await linesBetween(store, scope, { order, after: place, upTo: end, max: partLines });
    const isFull = lines.length === partLines; // what is left of this part comes with the next
    const next = isFull ? lines.at(-1) : end;
    yield { lines, place: next };
    if (next === undefined) return;
    place = next;
    width = isFull ? partLines : Math.min(width * 2, PART_LINES_MAX);
  }
}

/** How many lines fit, counted no further than asked. */
export async function countLines(store: Store, scope: LogScope, max: number): Promise<number> {
  const { count } = await store.search
    .selectFrom(
      inScope(store, scope)
        .select((eb) => eb.lit(1).as("one"))
        .limit(max)
        .as("counted"),
    )
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

interface Range {
  order: "asc" | "desc";
  after: Place | undefined;
}

/** Where to continue after skipping a number of lines, whatever their text; undefined if there are fewer. */
export async function placeAfter(
  store: Store,
  { query: _query, ...scope }: LogScope,
  { order, after, lines }: Range & { lines: number },
): Promise<Place | undefined> {
  return inOrder(beyond(inScope(store, scope), order, after), order)
    .select(["at", "nanos", "instanceId", "position"])
    .offset(lines - 1)
    .limit(1)
    .executeTakeFirst();
}

async function linesBetween(
  store: Store,
  scope: LogScope,
  { order, after, upTo, max }: Range & { upTo: Place | undefined; max: number },
): Promise<ScannedLine[]> {
  let lines = beyond(inScope(store, scope), order, after);
  if (upTo) lines = lines.where(({ eb }) => compare(eb, order === "asc" ? "<=" : ">=", upTo));
  return inOrder(lines, order)
    .select(["text", "at", "nanos", "deploymentId", "sessionId", "instanceId", "position"])
    .limit(max)
    .execute();
}

type Lines = ReturnType<typeof inScope>;

function inScope(store: Store, scope: LogScope) {
  const { organizationId, agentIds, deploymentId, sessionId, query, startTime, endTime } = scope;
  let lines = store.search
    .selectFrom("logLines")
    .where("organizationId", "=", organizationId)
    .where("agentId", "in", agentIds);
  if (deploymentId !== undefined) lines = lines.where("deploymentId", "=", deploymentId);
  if (sessionId !== undefined) lines = lines.where("sessionId", "=", sessionId);
  if (startTime !== undefined) lines = lines.where("at", ">=", startTime * 1000);
  if (endTime !== undefined) lines = lines.where("at", "<=", endTime * 1000);
  if (query !== undefined && query !== "") lines = lines.where((eb) => contains(store, eb, query));
  return lines;
}

function beyond(lines: Lines, order: Range["order"], after: Place | undefined): Lines {
  return after ? lines.where(({ eb }) => compare(eb, order === "asc" ? ">" : "<", after)) : lines;
}

function compare(
  eb: ExpressionBuilder<Schema, "logLines">,
  operator: ">" | "<" | ">=" | "<=",
  { at, nanos, instanceId, position }: Place,
): Expression<SqlBool> {
  const { refTuple, tuple } = eb;
  return eb(
    refTuple("at", "nanos", "instanceId", "position"),
    operator,
    tuple(at, nanos, instanceId, position),
  );
}

function inOrder(lines: Lines, order: Range["order"]): Lines {
  return lines
    .orderBy("at", order)
    .orderBy("nanos", order)
    .orderBy("instanceId", order)
    .orderBy("position", order);
}

function contains(
  store: Store,
  eb: ExpressionBuilder<Schema, "logLines">,
  text: string,
): Expression<SqlBool> {
  const position = sql.raw(store.dialect === "postgres" ? "strpos" : "instr");
  return sql<SqlBool>`${position}(lower(${eb.ref("text")}), ${toAsciiLowerCase(text)}) > 0`;
}

/** As both databases do: other letters keep their case. */
function toAsciiLowerCase(text: string): string {
  return text.replaceAll("\0", "").replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
