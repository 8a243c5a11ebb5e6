import type { UsageRow } from "../store/schema.ts";
import { billedSeconds } from "./length.ts";
import type { SessionFacts } from "./length.ts";
import { splitAtPeriods } from "./periods.ts";

/** A session as the ledger sees it when it is closed. */
export interface ClosingSession extends SessionFacts {
  id: string;
  organizationId: string;
  agentId: string;
  /** Of the deployment when it was bound, whatever was deployed since. */
  filter: "tel" | "pro" | null;
}

/** One row per month the session touches; none without a filter, or if it never became active. */
export function usageRowsFor(session: ClosingSession): UsageRow[] {
  if (session.filter === null || session.boundAt === null) return [];
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
