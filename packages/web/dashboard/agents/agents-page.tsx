import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AgentListItem } from "@vocalhost/protocol";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { LinkButton } from "../ui/link-button.tsx";
import { Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { toAgentState, toSource } from "./agent-words.ts";

export function AgentsPage() {
  const agents = useQuery(queries.agents());
  const mayChange = useMayChange();
  return (
    <Page
      title="Agents"
      about="Your deployed agents and their state."
      actions={
        mayChange && (
          <LinkButton to="/create-agent" look="primary" icon="plus">
            Create agent
          </LinkButton>
        )
      }
    >
      <QueryView query={agents} what="agents">
        {({ services }) => (
          <Card flush>
            {services.length === 0 ? (
              <Empty icon="agents" title="No agents yet">
                Run <code className="font-mono">vocalhost deploy</code> in a bot's folder, or create an agent
                here from an image or a build.
              </Empty>
            ) : (
              <Table caption="Agents" columns={columns} rows={services} rowKey={({ id }) => id} />
            )}
          </Card>
        )}
      </QueryView>
    </Page>
  );
}

const columns: Column<AgentListItem>[] = [
  {
    header: "Agent",
    cell: ({ name, region, record }) => (
      <>
        <Link
          to="/agents/$name"
          params={{ name }}
          search={(record?.regions ?? []).length > 1 ? { region } : {}}
          className="font-semibold [overflow-wrap:anywhere] hover:text-accent-deep hover:underline"
        >
          {name}
        </Link>
        {record && (
          <div className="mt-1 md:hidden">
            <StateCell {...toAgentState(record)} />
          </div>
        )}
      </>
    ),
  },
  {
    header: "State",
    wideOnly: true,
    cell: ({ record }) => record && <StateCell {...toAgentState(record)} />,
  },
  { header: "Sessions now", align: "right", cell: ({ record }) => record?.activeSessionCount ?? "–" },
  {
    header: "Runs",
    wideOnly: true,
    cell: ({ record }) => (
      <span className="text-muted">{record?.deployment ? toSource(record.deployment.manifest) : "–"}</span>
    ),
  },
  { header: "Region", wideOnly: true, cell: ({ region }) => <span className="text-muted">{region}</span> },
  {
    header: "Changed",
    wideOnly: true,
    cell: ({ updatedAt }) => (
      <span className="text-muted">
        <Ago time={updatedAt} />
      </span>
    ),
  },
];

function StateCell({ word, tone, reason }: ReturnType<typeof toAgentState>) {
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      <p className="mt-1 line-clamp-2 max-w-72 text-[0.8125rem] text-muted [overflow-wrap:anywhere] md:min-w-40">
        {reason}
      </p>
    </>
  );
}
