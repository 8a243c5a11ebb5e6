import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Region } from "@vocalhost/protocol";
import { Button } from "../../shared/button.tsx";
import { useMayChange } from "../data/me.ts";
import { api } from "../data/api.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { Failed } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { say } from "../ui/toast.tsx";

export function RegionsPage() {
  const regions = useQuery(queries.regions());
  const properties = useQuery(queries.properties());
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  const current = properties.data?.properties.defaultRegion.currentValue;
  const choose = useMutation({
    mutationFn: (code: string) => api().properties.patch({ defaultRegion: code }),
    onSuccess: async (_answer, code) => {
      say(`New agents and secret sets are now created in ${code}.`);
      await queryClient.invalidateQueries({ queryKey: queries.properties().queryKey });
    },
  });
  const columns: Column<Region>[] = [
    {
      header: "Region",
      cell: ({ display_name: title, code }) => (
        <>
          <span className="block font-medium">{title}</span>
          <code className="font-mono text-[0.8125rem] text-muted">{code}</code>
        </>
      ),
    },
    {
      header: "Default",
      align: "right",
      cell: ({ code, display_name: title }) => {
        if (code === current) return <Badge tone="good">Default</Badge>;
        if (!mayChange || current === undefined) return null;
        return (
          <Button
            size="small"
            disabled={choose.isPending}
            aria-label={`Make default: ${title}`}
            onClick={() => choose.mutate(code)}
          >
            Make default
          </Button>
        );
      },
    },
  ];
  return (
    <Page
      title="Regions"
      about="Where agents run and secrets are kept. An agent, its secrets and its builds live in one region and stay there."
    >
      {choose.error && <Failed error={choose.error} />}
      {properties.error && <Failed error={properties.error} retry={() => void properties.refetch()} />}
      <QueryView query={regions} what="regions">
        {({ regions: list }) => (
          <Card
            flush
            footer={
              <span className="text-sm text-muted">
                Anything created without a region goes to the default one. Regions come from the service's
                configuration.
              </span>
            }
          >
            <Table caption="Regions" columns={columns} rows={list} rowKey={({ code }) => code} />
          </Card>
        )}
      </QueryView>
    </Page>
  );
}
