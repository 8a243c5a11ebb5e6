import type { OrganizationId } from "../../identity/principal.ts";
import type { Store } from "@vocalhost/store/store";
import { toTime } from "@vocalhost/base/to-time";
import { filterReport, type FilterRow } from "./filter-report.ts";
import type { Period } from "./periods.ts";
import { correctionPages, unbilledPages, usagePages, type UsedSession } from "./usage-pages.ts";

/**
 * One line per session that is billed, then one per session of the month in which the service could not run the filter,
 * then one per correction. A page at a time, each read when it is asked for: a month may have any number of sessions.
 */
export async function* usageCsv(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): AsyncGenerator<string, void> {
  let head = [HEAD];
  for await (const lines of linePages(store, organizationId, period)) {
    yield toCsv([...head, ...lines]); // not before there is a page: until then a fault can be answered as one
    head = [];
  }
  if (head.length > 0) yield toCsv(head);
}

type Line = (string | number)[];

async function* linePages(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): AsyncGenerator<Line[], void> {
  const line = (kind: string, row: UsedSession): Line => [
    kind,
    period,
    row.sessionId,
    row.name ?? row.agentId,
    row.filter ?? "",
    toIso(row.startedAt),
    toIso(row.endedAt),
    row.seconds,
    "",
    ...filterCells(row),
  ];
  for await (const page of usagePages(store, organizationId, period))
    yield page.map((row) => line("usage", row));
  for await (const page of unbilledPages(store, organizationId, period))
    yield page.map((row) => line("not-billed", row));
  for await (const page of correctionPages(store, organizationId, period))
    yield page.map((row) => [
      ...["correction", period, row.sessionId, "", "", "", "", row.seconds, toIso(row.foundAt)],
      ...NO_FILTER,
    ]);
}

const FILTER_HEAD = [
  ...["filter_state", "model_version", "frames_in", "frames_filtered", "filtered_seconds", "near_share"],
  ...["level_removed_db", "filter_cpu_ms", "failures", "note"],
];
const HEAD = [
  ...["kind", "period", "session", "agent", "filter", "started", "ended", "seconds", "found"],
  ...FILTER_HEAD,
];
const NO_FILTER = FILTER_HEAD.map(() => "");

function filterCells(row: FilterRow): (string | number)[] {
  const report = filterReport(row);
  if (!report) return NO_FILTER;
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

function toIso(atMs: number | null): string {
  return atMs === null ? "" : toTime(atMs);
}

/** Lines for spreadsheets (RFC 4180). Text that a spreadsheet would take for a formula is made inert. */
export function toCsv(rows: (string | number)[][]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n\t]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
