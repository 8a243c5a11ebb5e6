import { useQuery } from "@tanstack/react-query";
import type { QuotaList } from "@vocalhost/protocol";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { Meter } from "../ui/meter.tsx";
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
    <Page title="Quotas" about="How much this organisation has, and may have at a time.">
      <QueryView query={quotas} what="quotas">
        {(list) => (
          <Card
            flush
            footer={
              <span className="text-sm text-muted">
                Beyond a quota, new things are refused; what runs goes on. Whoever runs the service sets them.
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
