import type { AliveRecord, ExitRecord, SessionFilter } from "@vocalhost/protocol";
import { filterReport } from "../usage/ledger/filter-report.ts";
import type { SessionRow } from "@vocalhost/store/schema";

type FilterFacts = Pick<
  SessionRow,
  "filterState" | "filterFramesIn" | "filterFramesFiltered" | "filterFigures"
>;

/** What is kept of the voice filter. A service without an engine ran none, whatever else is written down. */
export function filterFacts(
  session: Pick<SessionRow, "id" | "filterState">,
  record: ExitRecord | AliveRecord | undefined,
): FilterFacts {
  const told = record?.sessionId === session.id ? record.filter : undefined;
  return {
    filterState: session.filterState ?? told?.state ?? null,
    filterFramesIn: told?.framesIn ?? null,
    filterFramesFiltered: told?.framesFiltered ?? null,
    filterFigures: told ? JSON.stringify(told.figures) : null,
  };
}

/** The same, as it will be shown. */
export function closedFilter(
  session: Pick<SessionRow, "id" | "filter" | "filterState">,
  record: ExitRecord | AliveRecord | undefined,
): SessionFilter | null {
  return filterReport({ filter: session.filter, ...filterFacts(session, record) });
}
