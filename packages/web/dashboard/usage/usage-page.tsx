import { useQuery } from "@tanstack/react-query";
import type { Usage, UsageDays } from "@vocalhost/protocol";
import { useState } from "react";
import { buttonLook } from "../../shared/button.tsx";
import { Disclosure } from "../../shared/disclosure.tsx";
import { Icon } from "../../shared/icon.tsx";
import { SelectField } from "../../shared/select-field.tsx";
import { useMe } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card, Figure } from "../ui/card.tsx";
import { Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { useNow, When } from "../ui/time.tsx";
import { DaysChart } from "./days-chart.tsx";
import { lastMonths, monthOf, monthTitle, toCount, toMinutes, toPart } from "./usage-words.ts";

const MONTHS_SHOWN = 13;

export function UsagePage() {
  const nowMs = useNow(60_000);
  const [chosen, setMonth] = useState<string>();
  const month = chosen ?? monthOf(nowMs);
  const usage = useQuery(queries.usage(month));
  const days = useQuery(queries.usageDays(month));
  return (
    <Page
      title="Usage"
      about="Months are UTC months. A session counts once it has ended."
      beside={usage.data?.closed && <Badge tone="plain">Closed</Badge>}
      actions={
        <div className="flex items-end gap-2">
          <SelectField
            label="Month"
            value={month}
            options={lastMonths(nowMs, MONTHS_SHOWN).map((each) => ({
              value: each,
              label: monthTitle(each),
            }))}
            onChange={setMonth}
          />
          <CsvLink month={month} />
        </div>
      }
    >
      <QueryView query={usage} what="usage">
        {(total) => (
          <QueryView query={days} what="daily usage">
            {(byDay) => (
              <>
                <Totals usage={total} days={byDay} />
                {byDay.activeSeconds > 0 && <DaysCard days={byDay} />}
                <Agents agents={byDay.agents} />
                <Corrections corrections={total.corrections} />
              </>
            )}
          </QueryView>
        )}
      </QueryView>
    </Page>
  );
}

function CsvLink({ month }: { month: string }) {
  const { organization } = useMe();
  return (
    <a
      className={`${buttonLook({ look: "plain", size: "small" })} h-11!`}
      href={`/v1/organizations/${encodeURIComponent(organization)}/usage.csv?month=${month}`}
      download={`usage-${month}.csv`}
    >
      <Icon name="download" className="size-4" />
      CSV
    </a>
  );
}

function Totals({ usage, days }: { usage: Usage; days: UsageDays }) {
  const left = Math.max(0, usage.freeMinutes - usage.minutes);
  const share = Math.min(1, usage.minutes / usage.freeMinutes);
  const { projection } = days;
  return (
    <Card
      title={monthTitle(usage.month)}
      about="Only minutes with the voice filter are billed. Active minutes are the minutes of all sessions."
      footer={
        <span className="text-sm text-pretty text-muted">
          The first {toCount(usage.freeMinutes)} filter minutes of a month are free; each additional minute
          costs USD 0.0015. The seconds of a month are added up and then rounded up to minutes.
        </span>
      }
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-5 lg:grid-cols-5">
        <Figure
          label="Active minutes"
          value={toMinutes(days.activeSeconds)}
          note={`${toCount(days.sessions)} ${days.sessions === 1 ? "session" : "sessions"}`}
        />
        <Figure
          label="Filter minutes"
          value={toCount(usage.minutes)}
          note={`${toCount(usage.seconds)} seconds`}
        />
        <Figure label="Free minutes left" value={toCount(left)} note={`of ${toCount(usage.freeMinutes)}`} />
        <Figure
          label={usage.closed ? "Cost" : "Cost so far"}
          value={`USD\u00a0${usage.invoiceUsd}`}
          note={
            usage.billableMinutes === 0
              ? "nothing to pay"
              : `${toCount(usage.billableMinutes)} min, exactly USD\u00a0${usage.amountUsd}`
          }
        />
        {projection && (
          <Figure
            label="Projected cost"
            value={`USD\u00a0${projection.invoiceUsd}`}
            note={
              projection.billableMinutes === 0
                ? "free at this rate"
                : `${toCount(projection.filterMinutes)} filter min at this rate`
            }
          />
        )}
      </dl>
      <div
        role="meter"
        aria-label="Free minutes used"
        aria-valuemin={0}
        aria-valuemax={usage.freeMinutes}
        aria-valuenow={Math.min(usage.minutes, usage.freeMinutes)}
        aria-valuetext={`${toCount(usage.minutes)} of ${toCount(usage.freeMinutes)} free minutes used`}
        className="mt-5 h-1.5 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={`h-full rounded-full ${share < 1 ? "bg-accent" : "bg-warn"}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </Card>
  );
}

type AgentUsed = UsageDays["agents"][number];

const columns: Column<AgentUsed>[] = [
  {
    header: "Agent",
    cell: ({ agent }) => <span className="font-medium [overflow-wrap:anywhere]">{agent}</span>,
  },
  { header: "Sessions", align: "right", cell: ({ sessions }) => toCount(sessions) },
  { header: "Active min", align: "right", cell: ({ activeSeconds }) => toPart(activeSeconds) },
  { header: "Filter min", align: "right", cell: ({ filterSeconds }) => toPart(filterSeconds) },
];

function Agents({ agents }: { agents: AgentUsed[] }) {
  return (
    <Card title="By agent" flush>
      {agents.length === 0 ? (
        <Empty icon="agents" title="No sessions have ended this month">
          Talk to an agent, and its minutes appear here.
        </Empty>
      ) : (
        <Table caption="By agent" columns={columns} rows={agents} rowKey={({ agent }) => agent} />
      )}
    </Card>
  );
}

type Correction = Usage["corrections"][number];

const correctionColumns: Column<Correction>[] = [
  { header: "Session", cell: ({ sessionId }) => <code className="font-mono text-xs">{sessionId}</code> },
  { header: "Seconds", align: "right", cell: ({ seconds }) => toCount(seconds) },
  { header: "Found", align: "right", cell: ({ foundAt }) => <When time={foundAt} /> },
];

function Corrections({ corrections }: { corrections: Correction[] }) {
  if (corrections.length === 0) return null;
  return (
    <Card title="Corrections" about="Found after the month was closed. They are not part of its total." flush>
      <Table
        caption="Corrections"
        columns={correctionColumns}
        rows={corrections}
        rowKey={({ sessionId }) => sessionId}
      />
    </Card>
  );
}

type Day = UsageDays["days"][number];

/** The month day by day, as bars and as a table. */
function DaysCard({ days }: { days: UsageDays }) {
  const used = days.days.filter(({ activeSeconds }) => activeSeconds > 0);
  return (
    <Card title="By day" about="Session minutes, on the day they were used.">
      <div className="mt-3">
        <DaysChart days={days.days} summary={summaryOf(days)} />
      </div>
      {used.length > 0 && (
        <Disclosure title="As a table" note={used.length === 1 ? "1 day" : `${used.length} days`}>
          <Table caption="By day" columns={dayColumns} rows={used} rowKey={({ day }) => day} />
        </Disclosure>
      )}
    </Card>
  );
}

const dayColumns: Column<Day>[] = [
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
