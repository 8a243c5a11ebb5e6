import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ResourceMetrics, SessionDetails, SessionFilter } from "@vocalhost/protocol";
import { useMemo, useState } from "react";
import { Button } from "../../shared/button.tsx";
import { toSize } from "../../shared/byte-size.ts";
import { toDelay } from "../../shared/duration.ts";
import { Icon } from "../../shared/icon.tsx";
import { useAgentName } from "../agents/agent-name.ts";
import { api } from "../data/api.ts";
import { useMayChange } from "../data/me.ts";
import { isMissing } from "../data/problem.ts";
import { queries } from "../data/queries.ts";
import { LogView } from "../logs/log-view.tsx";
import { Badge } from "../ui/badge.tsx";
import { Card, Facts } from "../ui/card.tsx";
import { Chart } from "../ui/chart.tsx";
import { CopyText, toShortId } from "../ui/copy-text.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { useTitle } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { toLength, useNow, When } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";
import {
  filterFacts,
  isOpen,
  momentsOf,
  toCorrectionWords,
  toFilterState,
  toReason,
  toSessionState,
} from "./session-words.ts";

const HEARTBEAT_MS = 5_000; // brings samples and steps, which no event tells of

export function SessionPage() {
  const name = useAgentName();
  const { sessionId = "" } = useParams({ strict: false }) as { sessionId?: string };
  const session = useQuery({
    ...queries.session(name, sessionId),
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data) ? false : HEARTBEAT_MS),
  });
  useTitle(`Session ${toShortId(sessionId)} of ${name}`);
  if (isMissing(session.error)) {
    return (
      <Empty icon="voice" title="This session does not exist">
        <BackLink name={name} />
      </Empty>
    );
  }
  return (
    <QueryView query={session} what="the session">
      {(data) => <Details name={name} session={data} />}
    </QueryView>
  );
}

function BackLink({ name }: { name: string }) {
  return (
    <Link
      to="/agents/$name/sessions"
      params={{ name }}
      className="inline-flex items-center gap-1 rounded text-sm text-muted hover:text-ink"
    >
      <Icon name="back" className="size-4" />
      All sessions
    </Link>
  );
}

function Details({ name, session }: { name: string; session: SessionDetails }) {
  const { word, tone } = toSessionState(session);
  return (
    <div className="grid gap-6">
      <div className="flex flex-wrap items-center gap-3">
        <BackLink name={name} />
        <h2 className="font-mono text-base font-semibold">{toShortId(session.sessionId)}</h2>
        <Badge tone={tone}>{word}</Badge>
        <div className="ml-auto">
          <StopButton name={name} session={session} />
        </div>
      </div>
      <div className="grid gap-6 lg:grid-cols-2">
        <Card title="Session">
          <Facts
            facts={[
              { label: "Id", value: <CopyText text={session.sessionId} label="session id" /> },
              { label: "Started", value: <When time={session.createdAt} /> },
              { label: "Length", value: <Length session={session} /> },
              ...(session.lengthCorrectionMs === null
                ? []
                : [{ label: "Length corrected", value: toCorrectionWords(session.lengthCorrectionMs) }]),
              { label: "Ended because", value: toReason(session.endReason) },
              { label: "Over", value: session.transport },
              { label: "Start", value: startWords(session) },
              ...(session.region ? [{ label: "Region", value: regionWords(session) }] : []),
              {
                label: "Deployment",
                value: session.deploymentId === "" ? "–" : <code>{toShortId(session.deploymentId)}</code>,
              },
            ]}
          />
        </Card>
        <Timeline session={session} />
      </div>
      {session.filter && <FilterCard filter={session.filter} />}
      <ResourceCharts metrics={session.resourceMetrics} isOpen={isOpen(session)} />
      <Card title="Logs" about="The output of its instance during the session.">
        <LogView agentName={name} sessionId={session.sessionId} height="h-80" />
      </Card>
    </div>
  );
}

function Length({ session }: { session: SessionDetails }) {
  const nowMs = useNow(1_000);
  if (session.seconds !== null) return <>{toLength(session.seconds)}</>;
  if (!isOpen(session)) return <>–</>;
  return <>{toLength(Math.max(0, (nowMs - Date.parse(session.createdAt)) / 1000))} so far</>;
}

function regionWords({ region, regionReason }: SessionDetails): string {
  return regionReason ? `${region} (${regionReason})` : `${region}`;
}

function startWords({ coldStart, botStartSeconds }: SessionDetails): string {
  if (botStartSeconds === null) return "–";
  return `${coldStart ? "cold" : "warm"}, ${toDelay(botStartSeconds * 1000)}`;
}

function Timeline({ session }: { session: SessionDetails }) {
  const moments = momentsOf(session);
  const lastMs = moments.at(-1)?.atMs ?? 1;
  return (
    <Card title="Timeline" about="From the request to the bot's first sound.">
      {moments.length === 0 ? (
        <p className="text-sm text-muted">Nothing was measured: the session never reached an instance.</p>
      ) : (
        <ol className="grid gap-3">
          {moments.map(({ label, atMs }) => (
            <li key={label} className="grid gap-1 text-sm">
              <span className="flex justify-between gap-4">
                <span>{label}</span>
                <span className="text-muted tabular-nums">{toDelay(atMs)}</span>
              </span>
              <span aria-hidden="true" className="h-1.5 rounded-full bg-sunken">
                <span
                  className="block h-full min-w-1 rounded-full bg-accent"
                  style={{ width: `${(atMs / lastMs) * 100}%` }}
                />
              </span>
            </li>
          ))}
        </ol>
      )}
      {isOpen(session) && moments.length > 0 && (
        <p className="mt-3 text-[0.8125rem] text-muted">Measurements appear as the instance reports them.</p>
      )}
    </Card>
  );
}

function StopButton({ name, session }: { name: string; session: SessionDetails }) {
  const [asks, setAsks] = useState(false);
  const mayChange = useMayChange();
  const queryClient = useQueryClient();
  if (!isOpen(session) || !mayChange) return null;
  return (
    <>
      <Button
        size="small"
        look="danger"
        icon="hang-up"
        disabled={session.status === "stopping"}
        onClick={() => setAsks(true)}
      >
        {session.status === "stopping" ? "Stopping…" : "Stop session"}
      </Button>
      <ConfirmDialog
        open={asks}
        title="Stop this session?"
        action="Stop session"
        danger
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api().sessions.stop(name, session.sessionId);
          say("The session is being stopped");
          await queryClient.invalidateQueries();
        }}
      >
        The call is cut off. The bot has a few seconds to say goodbye.
      </ConfirmDialog>
    </>
  );
}

/** Proof that the voice filter ran, or that it did not. */
function FilterCard({ filter }: { filter: SessionFilter }) {
  const { word, tone } = toFilterState(filter);
  return (
    <Card title="Voice filter" actions={<Badge tone={tone}>{word}</Badge>}>
      <div className="grid gap-4">
        {filter.warning && (
          <Alert tone="busy" title={filter.billed ? "Billed, but not used" : "Not billed"}>
            {filter.warning}.
          </Alert>
        )}
        <Facts facts={filterFacts(filter)} />
      </div>
    </Card>
  );
}

/** CPU and memory of the session's instance over time. */
function ResourceCharts({ metrics, isOpen }: { metrics: ResourceMetrics | null; isOpen: boolean }) {
  const curves = useMemo(() => {
    const samples = metrics?.timeseries ?? [];
    return {
      times: samples.map(({ t }) => t),
      cpu: [
        { label: "CPU", values: samples.map(({ c }) => c), kind: "line" as const, tone: "accent" as const },
      ],
      memory: [
        { label: "Memory", values: samples.map(({ m }) => m), kind: "line" as const, tone: "warn" as const },
      ],
    };
  }, [metrics]);
  if (!metrics) {
    return (
      <Card title="Resources">
        <p className="text-sm text-muted">
          {isOpen ? "The first samples are on their way." : "The session was too short to be sampled."}
        </p>
      </Card>
    );
  }
  const cpuWords = `${Math.round(metrics.cpuMillicoresP50)} millicores at the median, ${Math.round(metrics.cpuMillicoresP95)} at the 95th percentile`;
  const memoryWords = `${toSize(metrics.memoryBytesP50)} at the median, ${toSize(metrics.memoryBytesP99)} at most`;
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Card title="CPU" about={cpuWords}>
        <Chart
          times={curves.times}
          series={curves.cpu}
          toText={(value) => `${Math.round(value)} m`}
          atLeast={100}
          summary={`CPU: ${cpuWords}.`}
        />
      </Card>
      <Card title="Memory" about={memoryWords}>
        <Chart
          times={curves.times}
          series={curves.memory}
          toText={(value) => `${Math.round(value / 1_000_000)} MB`}
          atLeast={64_000_000}
          summary={`Memory: ${memoryWords}.`}
        />
      </Card>
    </div>
  );
}
