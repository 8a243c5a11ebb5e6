import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { AuditEntry } from "@vocalhost/protocol";
import { useMemo } from "react";
import { SelectField } from "../../shared/select-field.tsx";
import { useMayChange } from "../data/me.ts";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { TextField } from "../ui/field.tsx";
import { Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { Pages } from "../ui/pages.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { When } from "../ui/time.tsx";
import { auditActions, toActor, toWords, type AuditWords, type Names } from "./audit-words.ts";

const PAGE = 50;
const HOUR_S = 3_600;
const SPANS: Record<string, { label: string; seconds: number }> = {
  day: { label: "Last 24 hours", seconds: 24 * HOUR_S },
  week: { label: "Last 7 days", seconds: 7 * 24 * HOUR_S },
  month: { label: "Last 30 days", seconds: 30 * 24 * HOUR_S },
};

/** Kept in the address, so that a filtered list can be sent to someone. */
interface Filters {
  action: string;
  actor: string;
  text: string;
  span: string;
  page: number;
}

export function AuditPage() {
  const mayLook = useMayChange();
  return (
    <Page title="Audit" about="Who changed what in this organisation, newest first.">
      {mayLook ? (
        <AuditTrail />
      ) : (
        <Card flush>
          <Empty icon="people" title="For owners and admins">
            Viewers cannot see the audit trail.
          </Empty>
        </Card>
      )}
    </Page>
  );
}

function AuditTrail() {
  const [filters, setFilters] = useFilters();
  const names = useNames();
  const entries = useQuery({
    ...queries.audit(toQuery(filters)),
    placeholderData: (before) => before, // the list stays while the next page is read
  });
  const change = (part: Partial<Filters>) => setFilters({ ...filters, page: 0, ...part });
  const isFiltered = [filters.action, filters.actor, filters.text, filters.span].some(
    (value) => value !== "",
  );
  return (
    <div className="grid gap-4">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <SelectField
          label="Action"
          value={filters.action}
          options={[
            { value: "", label: "All actions" },
            ...Object.entries(auditActions).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(action) => change({ action })}
        />
        <SelectField
          label="By"
          value={filters.actor}
          options={[
            { value: "", label: "Anyone" },
            ...[...names.keys()].map((value) => ({ value, label: toActor(value, names) })),
            { value: "system", label: toActor("system", names) },
          ]}
          onChange={(actor) => change({ actor })}
        />
        <SelectField
          label="When"
          value={filters.span}
          options={[
            { value: "", label: "Any time" },
            ...Object.entries(SPANS).map(([value, { label }]) => ({ value, label })),
          ]}
          onChange={(span) => change({ span })}
        />
        <TextField
          label="About"
          type="search"
          placeholder="An agent’s name, for example"
          maxLength={128}
          value={filters.text}
          onChange={(text) => change({ text })}
        />
      </div>
      <QueryView query={entries} what="audit trail">
        {({ entries: list, total }) => (
          <Card flush>
            {list.length === 0 ? (
              <Empty icon="log" title={isFiltered ? "No entries match" : "No entries yet"}>
                {isFiltered
                  ? "Try other filters."
                  : "Every change of agents, keys, secrets and members is noted here."}
              </Empty>
            ) : (
              <Table caption="Audit trail" columns={columnsOf(names)} rows={list} rowKey={({ id }) => id} />
            )}
            <Pages size={PAGE} total={total} page={filters.page} onPage={(page) => change({ page })} />
          </Card>
        )}
      </QueryView>
    </div>
  );
}

function columnsOf(names: Names): Column<AuditEntry>[] {
  return [
    {
      header: "When",
      narrow: true,
      cell: ({ at }) => (
        <span className="text-muted">
          <When time={at} />
        </span>
      ),
    },
    {
      header: "What happened",
      cell: (entry) => {
        const words = toWords(entry, names);
        return (
          <span className="[overflow-wrap:anywhere]">
            <span className="font-medium">{toActor(entry.actor, names)}</span> {words.did}{" "}
            <Target {...words} />
            {words.more && <span className="block text-[0.8125rem] text-muted">{words.more}</span>}
          </span>
        );
      },
    },
  ];
}

function Target({ what, to }: AuditWords) {
  const look = "font-medium text-accent-deep hover:underline";
  if (!to) return <span className="font-medium">{what}</span>;
  if (to.page === "/agents/$name")
    return (
      <Link to={to.page} params={{ name: to.name }} className={look}>
        {what}
      </Link>
    );
  return (
    <Link to={to.page} className={look}>
      {what}
    </Link>
  );
}

/** The trail names people and keys by id; the lists know what they are called. */
function useNames(): Names {
  const members = useQuery(queries.members()).data;
  const keys = useQuery(queries.keys()).data;
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { userId, email } of members?.members ?? []) if (email) names.set(`user:${userId}`, email);
    for (const { id, metadata } of [...(keys?.private ?? []), ...(keys?.public ?? [])])
      names.set(`key:${id}`, metadata.name);
    return names;
  }, [members, keys]);
}

function toQuery({ action, actor, text, span, page }: Filters) {
  const seconds = SPANS[span]?.seconds;
  const nowS = Math.floor(Date.now() / 60_000) * 60; // whole minutes, so that the same list is not read anew all the time
  return {
    limit: PAGE,
    offset: page * PAGE,
    ...(action === "" ? {} : { action }),
    ...(actor === "" ? {} : { actor }),
    ...(text === "" ? {} : { text }),
    ...(seconds === undefined ? {} : { startTime: nowS - seconds }),
  };
}

function useFilters(): [Filters, (filters: Filters) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const word = (key: string): string => (typeof search[key] === "string" ? search[key] : "");
  const { page } = search;
  const filters: Filters = {
    action: word("action"),
    actor: word("actor"),
    text: word("text"),
    span: word("span"),
    page: typeof page === "number" && page > 0 ? Math.floor(page) : 0,
  };
  return [
    filters,
    (next) => {
      const used = Object.fromEntries(
        Object.entries(next).filter(([, value]) => value !== "" && value !== 0),
      );
      void navigate({ to: ".", search: used, replace: true });
    },
  ];
}
