import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import type { AgentRecord } from "@vocalhost/protocol";
import { useEffect, useRef } from "react";
import { isMissing } from "../data/problem.ts";
import { queries } from "../data/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { LinkButton } from "../ui/link-button.tsx";
import { Empty } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { useAgentName, useAgentRegion } from "./agent-name.ts";
import { toAgentState } from "./agent-words.ts";

/** The frame of an agent's pages: its name, its state, and the tabs. */
export function AgentLayout() {
  const name = useAgentName();
  const agent = useQuery(queries.agent(name, useAgentRegion()));
  const state = agent.data && toAgentState(agent.data);
  const params = { name };
  if (isMissing(agent.error)) {
    return (
      <Page title={name} parent={{ label: "Agents", to: "/agents" }}>
        <Empty icon="agents" title="There is no agent with this name">
          It may have been deleted, or belong to another organisation.
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={name}
      parent={{ label: "Agents", to: "/agents" }}
      {...(state ? { beside: <Badge tone={state.tone}>{state.word}</Badge>, about: state.reason } : {})}
      actions={
        <LinkButton to="/agents/$name/talk" params={params} look="primary" icon="microphone">
          Talk
        </LinkButton>
      }
    >
      {agent.data && <Regions agent={agent.data} />}
      <TabLinks
        label="Agent"
        tabs={[
          { label: "Overview", to: "/agents/$name", params, exact: true },
          { label: "Sessions", to: "/agents/$name/sessions", params },
          { label: "Logs", to: "/agents/$name/logs", params },
          { label: "Deployments", to: "/agents/$name/deployments", params },
          { label: "Settings", to: "/agents/$name/settings", params },
          { label: "Talk", to: "/agents/$name/talk", params },
        ]}
      />
      <QueryView query={agent} what="the agent">
        {() => <Outlet />}
      </QueryView>
    </Page>
  );
}

/** Which one this is, of an agent in several regions, and the way to the others. */
function Regions({ agent: { name, region, regions = [] } }: { agent: AgentRecord }) {
  if (regions.length < 2) return null;
  return (
    <nav aria-label="Regions" className="flex flex-wrap items-center gap-2 text-sm">
      <span className="text-muted">Region</span>
      {regions.map((each) => (
        <Link
          key={each}
          to="/agents/$name"
          params={{ name }}
          search={{ region: each }}
          {...(each === region ? { "aria-current": "true" as const } : {})}
          className={`rounded-full border border-line px-3 py-0.5 ${each === region ? "font-semibold" : "text-muted hover:text-ink"}`}
        >
          {each}
        </Link>
      ))}
    </nav>
  );
}

interface TabLink {
  label: string;
  to: string;
  params?: Record<string, string>;
  /** Only for exactly this address. */
  exact?: boolean;
}

/** Pages of one thing, as links. */
function TabLinks({ label, tabs }: { label: string; tabs: TabLink[] }) {
  const { pathname } = useLocation();
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (pathname.endsWith("/")) return;
    const current = place.current?.querySelector("[aria-current=page]");
    current?.scrollIntoView({ inline: "center", block: "nearest" }); // on a phone they do not all fit
  }, [pathname]);
  return (
    <nav ref={place} aria-label={label} className="-mx-4 overflow-x-auto px-4 sm:mx-0 sm:px-0">
      <ul className="flex min-w-max gap-1 border-b border-line">
        {tabs.map((tab) => (
          <li key={tab.label}>
            <Link
              to={tab.to}
              {...(tab.params ? { params: tab.params } : {})}
              activeOptions={{ exact: tab.exact ?? false, includeSearch: false }}
              className="-mb-px block rounded-t-lg border-b-2 px-3 py-2.5 text-sm font-medium transition-colors"
              activeProps={{ className: "border-accent text-ink", "aria-current": "page" }}
              inactiveProps={{ className: "border-transparent text-muted hover:text-ink" }}
            >
              {tab.label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
