import type { OrganizationId } from "../auth/principal.ts";
import type { Store } from "../store/store.ts";
import { toCsv } from "./csv.ts";
import { filterReport, type FilterRow } from "./filter-report.ts";
import { periodEndMs, periodStartMs, type Period } from "./periods.ts";
import { FREE_MINUTES, priceOf, toExactUsd, toInvoiceUsd } from "./price.ts";

const DAY_MS = 86_400_000;

export interface UsageReport {
  period: Period;
  /** Frozen: what is found later is a correction. */
  closed: boolean;
  seconds: number;
  minutes: number;
  freeMinutes: number;
  billableMinutes: number;
  amountMicroDollars: number;
  /** Exact: `0.0015`. */
  amountUsd: string;
  /** In whole cents, half up: `0.00`. */
  invoiceUsd: string;
  sessions: number;
  agents: AgentUsage[];
  corrections: UsageCorrection[];
}

export interface AgentUsage {
  agent: string;
  seconds: number;
  sessions: number;
}

/** Found after the month was closed; not in its sums. */
export interface UsageCorrection {
  sessionId: string;
  seconds: number;
  foundAt: number;
}

export async function readUsage(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): Promise<UsageReport> {
  const agents = await store.db
    .selectFrom("usage")
    .leftJoin("agents", "agents.id", "usage.agentId")
    .select(["usage.agentId", "agents.name"])
    .select((eb) => [
      eb.fn.sum<number | string>("usage.seconds").as("seconds"),
      eb.fn.countAll<number | string>().as("sessions"),
    ])
    .where("usage.organizationId", "=", organizationId)
    .where("usage.period", "=", period)
    .groupBy(["usage.agentId", "agents.name"])
    .orderBy("agents.name")
    .execute();
  const closed = await store.db
    .selectFrom("periods")
    .select("closedAt")
    .where("organizationId", "=", organizationId)
    .where("period", "=", period)
    .executeTakeFirst();
  // Postgres gives sums of whole numbers as text.
  const rows = agents.map((row) => ({
    agent: row.name ?? row.agentId,
    seconds: Number(row.seconds),
    sessions: Number(row.sessions),
  }));
  const seconds = rows.reduce((sum, row) => sum + row.seconds, 0);
  const price = priceOf(seconds);
  return {
    period,
    closed: closed !== undefined,
    seconds,
    minutes: price.minutes,
    freeMinutes: FREE_MINUTES,
    billableMinutes: price.billableMinutes,
    amountMicroDollars: price.microDollars,
    amountUsd: toExactUsd(price.microDollars),
    invoiceUsd: toInvoiceUsd(price.cents),
    sessions: rows.reduce((sum, row) => sum + row.sessions, 0),
    agents: rows,
    corrections: await readCorrections(store, organizationId, period),
  };
}

/**
 * One line per session that is billed, then one per session of the month in which the service could not run the filter,
 * then one per correction.
 */
export async function usageCsv(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): Promise<string> {
  const sessions = await store.db
    .selectFrom("usage")
    .leftJoin("agents", "agents.id", "usage.agentId")
    .leftJoin("sessions", "sessions.id", "usage.sessionId")
    .select(["usage.sessionId", "usage.agentId", "agents.name", "usage.seconds"])
    .select(["sessions.boundAt", "sessions.endedAt", ...FILTER_COLUMNS])
    .where("usage.organizationId", "=", organizationId)
    .where("usage.period", "=", period)
    .orderBy("sessions.boundAt")
    .orderBy("usage.sessionId")
    .execute();
  const corrections = await readCorrections(store, organizationId, period);
  const line = (kind: string, row: UsedSession): (string | number)[] => [
    kind,
    period,
    row.sessionId,
    row.name ?? row.agentId,
    row.filter ?? "",
    toIso(row.boundAt),
    toIso(row.endedAt),
    row.seconds,
    "",
    ...filterCells(row),
  ];
  return toCsv([
    [
      ...["kind", "period", "session", "agent", "filter", "started", "ended", "seconds", "found"],
      ...["filter_state", "model_version", "frames_in", "frames_filtered", "filtered_seconds", "near_share"],
      ...["level_removed_db", "filter_cpu_ms", "failures", "note"],
    ],
    ...sessions.map((row) => line("usage", row)),
    ...(await readUnbilled(store, organizationId, period)).map((row) => line("not-billed", row)),
    ...corrections.map((row) => [
      ...["correction", period, row.sessionId, "", "", "", "", row.seconds, toIso(row.foundAt)],
      ...Array.from({ length: FILTER_CELLS }, () => ""),
    ]),
  ]);
}

const FILTER_COLUMNS = [
  "sessions.filter",
  "sessions.filterState",
  "sessions.filterFramesIn",
  "sessions.filterFramesFiltered",
  "sessions.filterFigures",
] as const;
const FILTER_CELLS = 10;

type Nullable<T> = { [Name in keyof T]: T[Name] | null };

/** Of a session that was forgotten only what it used is left. */
interface UsedSession extends Nullable<FilterRow> {
  sessionId: string;
  agentId: string;
  name: string | null;
  seconds: number;
  boundAt: number | null;
  endedAt: number | null;
}

function filterCells(row: Nullable<FilterRow>): (string | number)[] {
  const report = filterReport(row);
  if (!report) return Array.from({ length: FILTER_CELLS }, () => "");
  return [
    report.state ?? "unknown",
    report.version ?? "",
    report.framesIn,
    report.framesFiltered,
    report.seconds,
    report.nearShare ?? "",
    report.levelRemovedDb ?? "",
    report.cpuMs,
    report.failures,
    report.warning ?? "",
  ];
}

/** By the month they began in. */
async function readUnbilled(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): Promise<UsedSession[]> {
  const rows = await store.db
    .selectFrom("sessions")
    .leftJoin("agents", "agents.id", "sessions.agentId")
    .select(["sessions.id as sessionId", "sessions.agentId", "agents.name"])
    .select(["sessions.boundAt", "sessions.endedAt", ...FILTER_COLUMNS])
    .where("sessions.organizationId", "=", organizationId)
    // Made at most a day before it was bound: this is what there is an index for.
    .where("sessions.createdAt", ">=", periodStartMs(period) - DAY_MS)
    .where("sessions.createdAt", "<", periodEndMs(period))
    .where("sessions.boundAt", ">=", periodStartMs(period))
    .where("sessions.boundAt", "<", periodEndMs(period))
    .where("sessions.state", "=", "ended")
    .where("sessions.filterState", "in", ["unavailable", "failed"])
    .orderBy("sessions.boundAt")
    .orderBy("sessions.id")
    .execute();
  return rows.map((row) => ({ ...row, seconds: 0 }));
}

async function readCorrections(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): Promise<UsageCorrection[]> {
  return await store.db
    .selectFrom("corrections")
    .select(["sessionId", "seconds", "foundAt"])
    .where("organizationId", "=", organizationId)
    .where("period", "=", period)
    .orderBy("foundAt")
    .orderBy("sessionId")
    .execute();
}

function toIso(atMs: number | null): string {
  return atMs === null ? "" : new Date(atMs).toISOString();
}
