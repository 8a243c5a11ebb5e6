import { AppError } from "@vocalhost/protocol";
import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import type { OrganizationId } from "../auth/principal.ts";
import type { LogLineRow, Schema } from "../store/schema.ts";
import type { Store } from "../store/store.ts";

export interface LogFilter {
  deploymentId?: string;
  sessionId?: string;
  /** Text the line contains; capitals do not matter. */
  query?: string;
}

export interface LogQuery extends LogFilter {
  /** @default 10 */
  limit?: number;
  /** @default 0 */
  offset?: number;
  /** @default "desc" */
  order?: "asc" | "desc";
  /** Unix seconds, both ends included. */
  startTime?: number;
  endTime?: number;
}

export interface LogPage {
  total: { value: number; relation: "eq" };
  logs: LogEntry[];
}

export interface LogEntry {
  log: string;
  /** With nanoseconds. */
  timestamp: string;
  deploymentId: string;
}

/** A page of an agent's log, as the public interface shows it. */
export async function readLogs(
  store: Store,
  organizationId: OrganizationId,
  agentId: string,
  query: LogQuery,
): Promise<LogPage> {
  const { limit = 10, offset = 0, order = "desc", startTime, endTime } = query;
  let lines = filtered(store, organizationId, agentId, query);
  if (startTime !== undefined) lines = lines.where("at", ">=", startTime * 1000);
  if (endTime !== undefined) lines = lines.where("at", "<=", endTime * 1000);
  const { total } = await lines
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const rows = await lines
    .select(["text", "at", "nanos", "deploymentId"])
    .orderBy("at", order)
    .orderBy("nanos", order)
    .orderBy("instanceId", order)
    .orderBy("position", order)
    .limit(limit)
    .offset(offset)
    .execute();
  return { total: { value: total, relation: "eq" }, logs: rows.map(toEntry) };
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

/** Lines in order after a cursor, for whoever watches the log grow. */
export async function tailLogs(
  store: Store,
  organizationId: OrganizationId,
  agentId: string,
  query: TailQuery,
): Promise<Tail> {
  const { afterCursor, limit = 100 } = query;
  const order = afterCursor === undefined ? "desc" : "asc";
  let lines = filtered(store, organizationId, agentId, query);
  if (afterCursor !== undefined) {
    const place = parseCursor(afterCursor);
    lines = lines.where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple("at", "nanos", "instanceId", "position"),
        ">",
        tuple(place.at, place.nanos, place.instanceId, place.position),
      ),
    );
  }
  const rows = await lines
    .select(["text", "at", "nanos", "deploymentId", "sessionId", "instanceId", "position"])
    .orderBy("at", order)
    .orderBy("nanos", order)
    .orderBy("instanceId", order)
    .orderBy("position", order)
    .limit(limit)
    .execute();
  if (order === "desc") rows.reverse();
  const found = rows.map((row) => ({
    ...toEntry(row),
    sessionId: row.sessionId,
    instanceId: row.instanceId,
    cursor: toCursor(row),
  }));
  return { lines: found, cursor: found.at(-1)?.cursor ?? afterCursor ?? "0_0_0_" };
}

function filtered(store: Store, organizationId: OrganizationId, agentId: string, filter: LogFilter) {
  const { deploymentId, sessionId, query } = filter;
  let lines = store.db
    .selectFrom("logLines")
    .where("organizationId", "=", organizationId)
    .where("agentId", "=", agentId);
  if (deploymentId !== undefined) lines = lines.where("deploymentId", "=", deploymentId);
  if (sessionId !== undefined) lines = lines.where("sessionId", "=", sessionId);
  if (query !== undefined && query !== "") lines = lines.where((eb) => contains(store, eb, query));
  return lines;
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

function toEntry({
  text,
  at,
  nanos,
  deploymentId,
}: Pick<LogLineRow, "text" | "at" | "nanos" | "deploymentId">) {
  const timestamp = `${new Date(at).toISOString().slice(0, -1)}${String(nanos).padStart(6, "0")}Z`;
  return { log: text, timestamp, deploymentId };
}

type Place = Pick<LogLineRow, "at" | "nanos" | "position" | "instanceId">;

function toCursor({ at, nanos, position, instanceId }: Place): string {
  return `${at}_${nanos}_${position}_${instanceId}`;
}

function parseCursor(cursor: string): Place {
  const parts = /^(\d{1,15})_(\d{1,6})_(\d{1,15})_(.*)$/.exec(cursor);
  if (!parts) throw new AppError("GENERIC_BAD_REQUEST", { message: "The cursor is not valid" });
  const [, at, nanos, position, instanceId = ""] = parts;
  return { at: Number(at), nanos: Number(nanos), position: Number(position), instanceId };
}
