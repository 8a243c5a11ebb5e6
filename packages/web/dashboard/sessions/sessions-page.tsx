import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Session } from "@vocalhost/protocol";
import { Button } from "../../shared/button.tsx";
import { toDelay } from "../../shared/duration.ts";
import { SelectField } from "../../shared/select-field.tsx";
import { useAgentName } from "../agents/agent-name.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { toShortId } from "../ui/copy-text.tsx";
import { Empty } from "../ui/notice.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { Ago, toLength } from "../ui/time.tsx";
import { toReason, toSessionState } from "./session-words.ts";

const PAGE = 50;

/** Kept in the address, so that a filtered list can be sent to somebody. */
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
            { value: "active", label: "Those that are open" },
            { value: "ended", label: "Those that are over" },
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
                title={status === "all" && startType === "all" ? "No sessions yet" : "None like this"}
              >
                {status === "all" && startType === "all"
                  ? "Talk to the agent on its Talk page, or start a session with a public key."
                  : "Other filters may show some."}
              </Empty>
            ) : (
              <Table
                caption="Sessions"
                columns={columnsOf(name)}
                rows={list}
                rowKey={({ sessionId }) => sessionId}
              />
            )}
            <Pages total={total} page={page} onPage={(next) => setFilters({ ...filters, page: next })} />
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
      header: "Start took",
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

function Pages({ total, page, onPage }: { total: number; page: number; onPage: (page: number) => void }) {
  const last = Math.max(0, Math.ceil(total / PAGE) - 1);
  if (last === 0 && page === 0) return null;
  return (
    <nav
      aria-label="Pages of the list"
      className="flex items-center gap-3 border-t border-line px-5 py-3 text-sm"
    >
      <span className="text-muted">
        {page * PAGE + 1}–{Math.min(total, (page + 1) * PAGE)} of {total}
      </span>
      <div className="ml-auto flex gap-2">
        <Button size="small" disabled={page === 0} onClick={() => onPage(page - 1)}>
          Newer
        </Button>
        <Button size="small" disabled={page >= last} onClick={() => onPage(page + 1)}>
          Older
        </Button>
      </div>
    </nav>
  );
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
