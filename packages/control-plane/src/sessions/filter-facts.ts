import type { AliveRecord, ExitRecord, SessionFilter } from "@vocalhost/protocol";
import { filterReport } from "../usage/ledger/filter-report.ts";
import type { SessionRow } from "@vocalhost/store/schema";

type FilterFacts = Pick<
  SessionRow,
  "filterState" | "filterFramesIn" | "filterFramesFiltered" | "filterFigures"
>;

/** Returns the columns of the voice filter. A service without an engine ran none, whatever the record says. */
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

/** Returns the same as it will be shown. */
export function closedFilter(
  session: Pick<SessionRow, "id" | "filter" | "filterState">,
  record: ExitRecord | AliveRecord | undefined,
): SessionFilter | null {
  return filterReport({ filter: session.filter, ...filterFacts(session, record) });
}
