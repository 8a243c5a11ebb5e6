import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Session } from "@vocalhost/protocol";
import { toDelay } from "../../shared/duration.ts";
import { SelectField } from "../../shared/select-field.tsx";
import { useAgentName } from "../agents/agent-name.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { toShortId } from "../ui/copy-text.tsx";
import { Empty } from "../ui/notice.tsx";
import { Pages } from "../ui/pages.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Ago, toLength } from "../ui/time.tsx";
import { toReason, toSessionState } from "./session-words.ts";

const PAGE = 50;

/** Kept in the address, so that a filtered list can be shared. */
interface Filters {
  status: "all" | "active" | "ended";
  startType: "all" | "cold" | "warm";
  page: number;
}

export function SessionsPage() {
  const name = useAgentName();
  const [filters, setFilters] = useFilters();
  const { status, startType, page } = filters;
  const sessions = useQuery({
    ...queries.sessions(name, { status, startType, limit: PAGE, offset: page * PAGE }),
    placeholderData: (before) => before, // the list stays while the next page is read
  });
  return (
    <div className="grid gap-4">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-[14rem_14rem]">
        <SelectField
          label="Show"
          value={status}
          options={[
            { value: "all", label: "All sessions" },
            { value: "active", label: "Open sessions" },
            { value: "ended", label: "Ended sessions" },
          ]}
          onChange={(value) => setFilters({ status: value as Filters["status"], startType, page: 0 })}
        />
        <SelectField
          label="Start"
          value={startType}
          options={[
            { value: "all", label: "Cold or warm" },
            { value: "warm", label: "Warm starts" },
            { value: "cold", label: "Cold starts" },
          ]}
          onChange={(value) => setFilters({ status, startType: value as Filters["startType"], page: 0 })}
        />
      </div>
      <QueryView query={sessions} what="sessions">
        {({ sessions: list, total_count: total }) => (
          <Card flush>
            {list.length === 0 ? (
              <Empty
                icon="voice"
                title={status === "all" && startType === "all" ? "No sessions yet" : "No sessions match"}
              >
                {status === "all" && startType === "all"
                  ? "Talk to the agent on its Talk page, or start a session with a public key."
                  : "Try other filters."}
              </Empty>
            ) : (
              <Table
                caption="Sessions"
                columns={columnsOf(name)}
                rows={list}
                rowKey={({ sessionId }) => sessionId}
              />
            )}
            <Pages
              size={PAGE}
              total={total}
              page={page}
              onPage={(next) => setFilters({ ...filters, page: next })}
            />
          </Card>
        )}
      </QueryView>
    </div>
  );
}

function columnsOf(name: string): Column<Session>[] {
  return [
    {
      header: "Session",
      cell: (session) => (
        <Link
          to="/agents/$name/sessions/$sessionId"
          params={{ name, sessionId: session.sessionId }}
          className="font-mono text-[0.8125rem] font-medium hover:text-accent-deep hover:underline"
        >
          {toShortId(session.sessionId)}
        </Link>
      ),
    },
    {
      header: "State",
      cell: (session) => {
        const { word, tone } = toSessionState(session);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    { header: "Started", cell: ({ createdAt }) => <Ago time={createdAt} /> },
    {
      header: "Length",
      align: "right",
      cell: ({ seconds }) => (seconds === null ? "–" : toLength(seconds)),
    },
    { header: "Over", wideOnly: true, cell: ({ transport }) => transport },
    {
      header: "Start latency",
      align: "right",
      wideOnly: true,
      cell: ({ botStartSeconds, coldStart }) => (
        <>
          {botStartSeconds === null ? "–" : toDelay(botStartSeconds * 1000)}
          {coldStart && <span className="text-muted"> cold</span>}
        </>
      ),
    },
    {
      header: "Ended because",
      wideOnly: true,
      cell: ({ endReason }) => <span className="text-muted">{toReason(endReason)}</span>,
    },
  ];
}

function useFilters(): [Filters, (filters: Filters) => void] {
  const { status, startType, page } = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const filters: Filters = {
    status: status === "active" || status === "ended" ? status : "all",
    startType: startType === "cold" || startType === "warm" ? startType : "all",
    page: typeof page === "number" && page > 0 ? Math.floor(page) : 0,
  };
  return [filters, (next) => void navigate({ to: ".", search: { ...next }, replace: true })];
}
