import type { OrganizationId } from "../../identity/principal.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import type { FilterRow } from "./filter-report.ts";
import { DAY_MS, periodEndMs, periodStartMs, type Period } from "./periods.ts";
import type { UsageCorrection } from "./read-usage.ts";

/** Only the usage is left of a session that was deleted. */
export interface UsedSession extends FilterRow {
  sessionId: string;
  agentId: string;
  /** The agent's name, while it is known. */
  name: string | null;
  seconds: number;
  startedAt: number | null;
  endedAt: number | null;
}

const PAGE_ROWS = 500; // some milliseconds, for which others who search wait
const LOOKED_AT_ROWS = 2_000; // of which all may fit, or none
const FILTER_COLUMNS = [
  "sessions.filter",
  "sessions.filterState",
  "sessions.filterFramesIn",
  "sessions.filterFramesFiltered",
  "sessions.filterFigures",
] as const;

/** Every session that is billed, each once, in the order in which they began. */
export async function* usagePages(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): AsyncGenerator<UsedSession[], void> {
  let after: { startedAt: number; sessionId: string } | undefined;
  for (;;) {
    let used = store.search
      .selectFrom("usage")
      .leftJoin("agents", "agents.id", "usage.agentId")
      .leftJoin("sessions", "sessions.id", "usage.sessionId")
      .select(["usage.sessionId", "usage.agentId", "usage.seconds", "usage.startedAt", "agents.name"])
      .select(["sessions.boundAt", "sessions.endedAt", ...FILTER_COLUMNS])
      .where("usage.organizationId", "=", organizationId)
      .where("usage.period", "=", period)
      .orderBy("usage.startedAt")
      .orderBy("usage.sessionId")
      .limit(PAGE_ROWS);
    if (after) {
      const { startedAt, sessionId } = after;
      used = used.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("usage.startedAt", "usage.sessionId"), ">", tuple(startedAt, sessionId)),
      );
    }
    const rows = await used.execute();
    if (rows.length > 0)
      yield rows.map((row) => ({ ...row, startedAt: row.boundAt ?? (row.startedAt || null) }));
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1);
  }
}

/** Sessions that were not billed because the service could not run the filter; by the month they began in. */
export async function* unbilledPages(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): AsyncGenerator<UsedSession[], void> {
  const startMs = periodStartMs(period);
  const endMs = periodEndMs(period);
  // Made at most a day before it was bound: this is what there is an index for.
  let after: Creation = { createdAt: startMs - DAY_MS, id: "" };
  for (;;) {
    const next = await creationAfter(store, organizationId, after);
    const isLast = next === undefined || next.createdAt >= endMs;
    const rows = await createdBetween(store, organizationId, {
      after,
      upTo: isLast ? { createdAt: endMs, id: "" } : next,
    })
      .leftJoin("agents", "agents.id", "sessions.agentId")
      .select(["sessions.id as sessionId", "sessions.agentId", "agents.name"])
      .select(["sessions.boundAt as startedAt", "sessions.endedAt", ...FILTER_COLUMNS])
      .where("sessions.boundAt", ">=", startMs)
      .where("sessions.boundAt", "<", endMs)
      .where("sessions.state", "=", "ended")
      .where("sessions.filterState", "in", ["unavailable", "failed"])
      .orderBy("sessions.createdAt")
      .orderBy("sessions.id")
      .execute();
    if (rows.length > 0) yield rows.map((row) => ({ ...row, seconds: 0 }));
    if (isLast) return;
    after = next;
  }
}

/** Sessions that were found after the month was closed. */
export async function* correctionPages(
  store: Store,
  organizationId: OrganizationId,
  period: Period,
): AsyncGenerator<UsageCorrection[], void> {
  let after: UsageCorrection | undefined;
  for (;;) {
    let corrections = readCorrections(store, organizationId, period);
    if (after) {
      const { foundAt, sessionId } = after;
      corrections = corrections.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("foundAt", "sessionId"), ">", tuple(foundAt, sessionId)),
      );
    }
    const rows = await corrections.limit(PAGE_ROWS).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1);
  }
}

export function readCorrections({ search }: Store, organizationId: OrganizationId, period: Period) {
  return search
    .selectFrom("corrections")
    .select(["sessionId", "seconds", "foundAt"])
    .where("organizationId", "=", organizationId)
    .where("period", "=", period)
    .orderBy("foundAt")
    .orderBy("sessionId");
}

type Creation = Pick<SessionRow, "createdAt" | "id">;

function creationAfter(
  store: Store,
  organizationId: OrganizationId,
  after: Creation,
): Promise<Creation | undefined> {
  return createdBetween(store, organizationId, { after })
    .select(["sessions.createdAt", "sessions.id"])
    .orderBy("sessions.createdAt")
    .orderBy("sessions.id")
    .offset(LOOKED_AT_ROWS - 1)
    .limit(1)
    .executeTakeFirst();
}

function createdBetween(
  { search }: Store,
  organizationId: OrganizationId,
  { after, upTo }: { after: Creation; upTo?: Creation },
) {
  return search
    .selectFrom("sessions")
    .where("sessions.organizationId", "=", organizationId)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("sessions.createdAt", "sessions.id"), ">", tuple(after.createdAt, after.id)),
    )
    .$if(upTo !== undefined, (sessions) =>
      sessions.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("sessions.createdAt", "sessions.id"), "<=", tuple(upTo!.createdAt, upTo!.id)),
      ),
    );
}
