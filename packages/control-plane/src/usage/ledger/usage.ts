import type { FilterStatus, VoiceFilter } from "@vocalhost/protocol";
import type { UsageRow } from "@vocalhost/store/schema";
import { billedSeconds } from "./length.ts";
import type { SessionFacts } from "./length.ts";
import { splitAtPeriods } from "./periods.ts";

/** A session as the ledger sees it when it is closed. */
export interface ClosingSession extends SessionFacts {
  id: string;
  organizationId: string;
  agentId: string;
  /** Filter of the deployment at the time of binding, whatever was deployed since. */
  filter: VoiceFilter | null;
  /** Its state at the end; null when that is unknown. */
  filterState: FilterState | null;
}

type FilterState = FilterStatus["state"];

/** A filter that the service could not run is not billed; a filter that the bot does not use is billed. */
export function isFilterBilled(session: Pick<ClosingSession, "filter" | "filterState">): boolean {
  const { filter, filterState } = session;
  return filter !== null && filterState !== "unavailable" && filterState !== "failed";
}

/** Returns one row per month that the session touches; none without a billed filter, or if it never became active. */
export function usageRowsFor(session: ClosingSession): UsageRow[] {
  if (!isFilterBilled(session) || session.boundAt === null) return [];
  return splitAtPeriods({ fromMs: session.boundAt, seconds: billedSeconds(session) }).map((piece) => ({
    sessionId: session.id,
    period: piece.period,
    organizationId: session.organizationId,
    agentId: session.agentId,
    seconds: piece.seconds,
  }));
}

/** Returns the identifier under which a row is exported, however often it is sent. */
export function usageId(row: Pick<UsageRow, "sessionId" | "period">): string {
  return `usage:${row.sessionId}:${row.period}`;
}
