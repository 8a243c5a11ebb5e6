import { useQuery } from "@tanstack/react-query";
import type { QuotaList } from "@vocalhost/protocol";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";

const kinds: { name: keyof QuotaList; label: string; unit: string }[] = [
  { name: "agents", label: "Agents", unit: "" },
  { name: "instances", label: "Instances", unit: "" },
  { name: "builds", label: "Builds waiting or running", unit: "" },
  { name: "diskMib", label: "Disk for uploads and builds", unit: " MiB" },
];

type Row = (typeof kinds)[number] & QuotaList["agents"];

const columns: Column<Row>[] = [
  { header: "What", cell: ({ label }) => <span className="font-medium">{label}</span> },
  {
    header: "Used",
    cell: ({ label, used, limit }) => <Meter label={label} used={used} limit={limit} />,
  },
  {
    header: "Of",
    align: "right",
    cell: ({ used, limit, unit }) => (
      <span className="tabular-nums">{`${used.toLocaleString()} / ${limit.toLocaleString()}${unit}`}</span>
    ),
  },
];

export function QuotasPage() {
  const quotas = useQuery(queries.quotas());
  return (
    <Page title="Quotas" about="What this organisation uses, and its limits.">
      <QueryView query={quotas} what="quotas">
        {(list) => (
          <Card
            flush
            footer={
              <span className="text-sm text-muted">
                Beyond a quota the service refuses new agents, instances, builds and uploads; running ones
                continue. The operator of the service sets the quotas.
              </span>
            }
          >
            <Table
              caption="Quotas"
              columns={columns}
              rows={kinds.map((kind) => ({ ...kind, ...list[kind.name] }))}
              rowKey={({ name }) => name}
            />
          </Card>
        )}
      </QueryView>
    </Page>
  );
}

const NEARLY_FULL = 0.8;

/** How much of something is used, as a bar. */
function Meter({ label, used, limit }: { label: string; used: number; limit: number }) {
  const share = limit > 0 ? Math.min(used / limit, 1) : 1;
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={used}
      className="h-2 w-full max-w-48 overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={`h-full rounded-full ${share < NEARLY_FULL ? "bg-accent" : "bg-warn"}`}
        style={{ width: `${share * 100}%`, minWidth: used > 0 ? "0.25rem" : 0 }}
      />
    </div>
  );
}
