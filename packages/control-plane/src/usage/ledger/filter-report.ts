import { FilterFigures, noFilterFigures, type SessionFilter } from "@vocalhost/protocol";
import type { SessionRow } from "@vocalhost/store/schema";
import { isFilterBilled } from "./usage.ts";

export type FilterRow = Pick<
  SessionRow,
  "filter" | "filterState" | "filterFramesIn" | "filterFramesFiltered" | "filterFigures"
>;

/** Describes the voice filter of a session for its owner; null where none was asked for. */
export function filterReport(row: FilterRow): SessionFilter | null {
  if (row.filter === null) return null;
  return {
    model: row.filter,
    state: row.filterState,
    framesIn: row.filterFramesIn ?? 0,
    framesFiltered: row.filterFramesFiltered ?? 0,
    ...figuresOf(row),
    billed: isFilterBilled(row),
    warning: row.filterState === null ? null : warnings[row.filterState],
  };
}

const warnings: Record<NonNullable<FilterRow["filterState"]>, string | null> = {
  ran: null,
  "not-attached":
    "Billed, but the bot never attached the filter. Attach vivaFilter() to the transport's audio input, or switch the filter off in the deployment",
  unavailable: "Not filtered and not billed: the service has no engine for the filter",
  failed: "Not billed: the filter failed, and audio passed untouched. The session's log says why",
};

function figuresOf({ filterFigures }: FilterRow): FilterFigures {
  if (filterFigures === null) return noFilterFigures;
  return FilterFigures.safeParse(JSON.parse(filterFigures)).data ?? noFilterFigures;
}
