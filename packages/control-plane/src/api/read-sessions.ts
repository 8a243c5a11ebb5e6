import {
  endStateOf,
  endStateRows,
  StartTimeline,
  type EndState,
  type EndStateRow,
  type Session,
  type SessionList,
  type SessionListQuery,
} from "@vocalhost/protocol";
import { notFound } from "@vocalhost/base/refusals";
import { findAgents } from "../agents/find-agent.ts";
import { toTime } from "@vocalhost/base/to-time";
import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import type { OrganizationId } from "../identity/principal.ts";
import { filterReport } from "../usage/ledger/filter-report.ts";
import { doorOf } from "../sessions/doors/doors.ts";
import { OPEN_SESSION_STATES } from "../sessions/session-state.ts";
import type { Schema, SessionRow } from "@vocalhost/store/schema";
import type { Db, Store } from "@vocalhost/store/store";

/** Returns the newest first. */
export async function listSessions(
  { db, search }: Pick<Store, "db" | "search">,
  organizationId: OrganizationId,
  { name, query }: { name: string; query: SessionListQuery },
): Promise<SessionList> {
  const { region } = query;
  const agentIds = await agentIdsOf(db, organizationId, { name, region });
  if (query.deploymentId !== undefined)
    await requireDeployment(db, organizationId, { agentIds, deploymentId: query.deploymentId });
  const matching = filtered(search, organizationId, agentIds, query);
  // Few sessions are open. `+ 0` keeps SQLite from scanning the whole table in creation order.
  const age = query.status === "active" ? sql<number>`created_at + 0` : sql.ref<number>("createdAt");
  const rows = await matching
    .selectAll()
    .orderBy(age, "desc")
    .orderBy("id", "desc")
    .limit(query.limit)
    .offset(query.offset)
    .execute();
  const { total } = await matching
    .select((select) => select.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return { total_count: total, sessions: rows.map(toSession) };
}

export async function findSession(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  { name, sessionId }: { name: string; sessionId: string },
): Promise<SessionRow> {
  const agentIds = await agentIdsOf(db, organizationId, { name });
  const row = await db
    .selectFrom("sessions")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("agentId", "in", agentIds)
    .where("id", "=", sessionId)
    .executeTakeFirst();
  if (!row) throw notFound("Session not found");
  return row;
}

/** Returns the agent's ids in all regions. */
async function agentIdsOf(
  db: Db,
  organizationId: OrganizationId,
  address: { name: string; region?: string | undefined },
): Promise<string[]> {
  const agents = await findAgents(db, organizationId, { ...address, message: "Service not found" });
  return agents.map(({ id }) => id);
}

export function toSession(row: SessionRow): Session {
  const latest = Math.max(
    row.createdAt,
    row.boundAt ?? 0,
    row.activeAt ?? 0,
    row.stopRequestedAt ?? 0,
    row.endedAt ?? 0,
  );
  return {
    sessionId: row.id,
    serviceId: row.agentId,
    organizationId: row.organizationId,
    deploymentId: row.deploymentId ?? "",
    endedAt: row.endedAt === null ? null : toTime(row.endedAt),
    botStartSeconds: row.startMs === null ? null : row.startMs / 1000,
    coldStart: row.coldStart === null ? null : row.coldStart === 1,
    completionStatus: completionOf(row),
    createdAt: toTime(row.createdAt),
    updatedAt: toTime(latest),
    status: row.state,
    transport: row.transport,
    region: row.region,
    regionReason: row.regionReason,
    endReason: row.endReason,
    endState: endStateOf({ status: row.state, endReason: row.endReason }),
    seconds: row.seconds,
    lengthCorrectionMs: row.lengthCorrectionMs,
    filter: filterReport(row),
  };
}

export function timelineOf({ timeline }: Pick<SessionRow, "timeline">): StartTimeline {
  return StartTimeline.safeParse(JSON.parse(timeline)).data ?? {};
}

function completionOf({ state, endReason, transport }: SessionRow): string | null {
  switch (state) {
    case "ended":
      return endReason === "bot-failed" || endReason === "instance-lost"
        ? "HTTP_ERROR"
        : doorOf(transport).completion;
    case "failed":
      return endReason === "start-timed-out" ? "504" : "HTTP_ERROR";
    case "expired":
      return "408";
    case "pending":
    case "starting":
    case "active":
    case "stopping":
      return null;
    default:
      return state satisfies never;
  }
}

function filtered(db: Db, organizationId: OrganizationId, agentIds: string[], query: SessionListQuery) {
  let rows = db
    .selectFrom("sessions")
    .where("organizationId", "=", organizationId)
    .where("agentId", "in", agentIds);
  if (query.deploymentId !== undefined) rows = rows.where("deploymentId", "=", query.deploymentId);
  if (query.startTime !== undefined) rows = rows.where("createdAt", ">=", query.startTime * 1000);
  if (query.endTime !== undefined) rows = rows.where("createdAt", "<", (query.endTime + 1) * 1000);
  if (query.status === "active") rows = rows.where("state", "in", [...OPEN_SESSION_STATES]);
  if (query.status === "ended") rows = rows.where("state", "not in", [...OPEN_SESSION_STATES]);
  const { endState } = query;
  if (endState !== undefined) rows = rows.where((is) => conditionOf(is, endState));
  if (query.startType !== "all") rows = rows.where("coldStart", "=", query.startType === "cold" ? 1 : 0);
  if (query.startTimeMin > 0) rows = rows.where("startMs", ">=", query.startTimeMin * 1000);
  if (query.startTimeMax > 0) rows = rows.where("startMs", "<=", query.startTimeMax * 1000);
  return rows;
}

/** Translates an end state to a condition; `unknown` matches every row that no other state matches. */
function conditionOf(is: ExpressionBuilder<Schema, "sessions">, endState: EndState): Expression<SqlBool> {
  const meaning = ({ status, reasons }: EndStateRow) => [
    is("state", "=", status as SessionRow["state"]),
    ...(reasons ? [is("endReason", "in", reasons)] : []),
  ];
  if (endState !== "unknown")
    return is.or(endStateRows.filter((row) => row.endState === endState).map((row) => is.and(meaning(row))));
  return is.and([
    is("endReason", "is not", null),
    ...endStateRows.map((row) => is.not(is.and(meaning(row)))),
  ]);
}

async function requireDeployment(
  db: Db,
  organizationId: OrganizationId,
  { agentIds, deploymentId }: { agentIds: string[]; deploymentId: string },
): Promise<void> {
  const row = await db
    .selectFrom("deployments")
    .select("id")
    .where("organizationId", "=", organizationId)
    .where("agentId", "in", agentIds)
    .where("id", "=", deploymentId)
    .executeTakeFirst();
  if (!row) throw notFound("Deployment not found");
}
