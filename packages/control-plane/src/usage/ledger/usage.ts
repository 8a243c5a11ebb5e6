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
  /** What became of it; null when that is unknown. */
  filterState: FilterState | null;
}

type FilterState = FilterStatus["state"];

/** Not billed: what the service could not run. That a bot does not use it is the bot's business. */
export function isFilterBilled(session: Pick<ClosingSession, "filter" | "filterState">): boolean {
  const { filter, filterState } = session;
  return filter !== null && filterState !== "unavailable" && filterState !== "failed";
}

/** One row per month the session touches; none without a filter that is billed, or if it never became active. */
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

/** Under which a row leaves the house, however often it is sent. */
export function usageId(row: Pick<UsageRow, "sessionId" | "period">): string {
  return `usage:${row.sessionId}:${row.period}`;
}
