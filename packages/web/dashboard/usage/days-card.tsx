import type { UsageDays } from "@vocalhost/protocol";
import { Disclosure } from "../../shared/disclosure.tsx";
import { Card } from "../ui/card.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { DaysChart } from "./days-chart.tsx";
import { toCount, toMinutes, toPart } from "./minutes.ts";

type Day = UsageDays["days"][number];

/** The month, day by day: as bars, and as a table for whoever wants the numbers. */
export function DaysCard({ days }: { days: UsageDays }) {
  const used = days.days.filter(({ activeSeconds }) => activeSeconds > 0);
  return (
    <Card title="By day" about="Session minutes, on the day they were used.">
      <div className="mt-3">
        <DaysChart days={days.days} summary={summaryOf(days)} />
      </div>
      {used.length > 0 && (
        <Disclosure title="As a table" note={used.length === 1 ? "1 day" : `${used.length} days`}>
          <Table caption="By day" columns={columns} rows={used} rowKey={({ day }) => day} />
        </Disclosure>
      )}
    </Card>
  );
}

const columns: Column<Day>[] = [
  { header: "Day (UTC)", cell: ({ day }) => <time dateTime={day}>{day}</time> },
  { header: "Sessions", align: "right", cell: ({ sessions }) => toCount(sessions) },
  { header: "Active min", align: "right", cell: ({ activeSeconds }) => toPart(activeSeconds) },
  { header: "Filter min", align: "right", cell: ({ filterSeconds }) => toPart(filterSeconds) },
];

function summaryOf({ days, activeSeconds, filterSeconds }: UsageDays): string {
  const busiest = days.reduce<Day | undefined>(
    (most, day) => (day.activeSeconds > (most?.activeSeconds ?? 0) ? day : most),
    undefined,
  );
  const total = `${toMinutes(activeSeconds)} active and ${toMinutes(filterSeconds)} filter minutes`;
  return busiest
    ? `${total}, most of them on ${busiest.day} (${toPart(busiest.activeSeconds)})`
    : `${total}: no sessions have ended`;
}
