import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { queries } from "../data/queries.ts";
import { Card, Facts, Figure } from "../ui/card.tsx";
import { Alert, Empty } from "../ui/notice.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { useNow, When } from "../ui/time.tsx";
import { useAgentName, useAgentRegion } from "./agent-name.ts";
import { toFilterWord, toSource } from "./agent-words.ts";
import { PoolPicture } from "./pool-picture.tsx";
import { LatencyChart, SessionsChart } from "./session-charts.tsx";

const DAY_S = 86_400;
const SESSIONS_MAX = 1_000; // as many as one answer holds
const MINUTE_MS = 60_000;

export function OverviewPage() {
  const name = useAgentName();
  return (
    <div className="grid gap-6">
      <Problems name={name} />
      <Pool name={name} />
      <Charts name={name} />
      <Now name={name} />
    </div>
  );
}

function Problems({ name }: { name: string }) {
  const { data } = useQuery(queries.agent(name, useAgentRegion()));
  const crash = data?.currentRevision?.health;
  const errors = data?.errors ?? [];
  if (errors.length === 0 && !crash?.message) return null;
  return (
    <Alert title={errors[0] ? `The last rollout failed (${errors[0].code})` : "Instances are crashing"}>
      {errors.map(({ message }) => message).join("\n")}
      {crash?.message && (
        <pre className="mt-2 max-h-48 overflow-auto rounded-lg bg-surface p-3 font-mono text-xs whitespace-pre-wrap">
          {crash.message}
        </pre>
      )}
    </Alert>
  );
}

function Pool({ name }: { name: string }) {
  const pool = useQuery(queries.pool(name, useAgentRegion()));
  return (
    <Card title="Pool" about="Each instance runs one session. Warm ones wait for the next.">
      <QueryView query={pool} what="the pool">
        {(data) => <PoolPicture pool={data} agentName={name} />}
      </QueryView>
    </Card>
  );
}

function Charts({ name }: { name: string }) {
  const nowMs = useNow(5_000);
  const startTime = Math.floor(nowMs / MINUTE_MS) * 60 - DAY_S;
  // Its own minute keeps the key, so the list is not thrown away every second.
  const query = useMemo(() => ({ limit: SESSIONS_MAX, startTime }), [startTime]);
  const sessions = useQuery({ ...queries.sessions(name, query), placeholderData: (before) => before });
  return (
    <QueryView query={sessions} what="the last day's sessions">
      {({ sessions: list, total_count: total }) =>
        list.length === 0 ? (
          <Card title="Last 24 hours">
            <Empty icon="voice" title="No sessions in the last 24 hours">
              Start one on the Talk page, or with a public key.
            </Empty>
          </Card>
        ) : (
          <div className="grid gap-6 lg:grid-cols-2">
            <SessionsChart sessions={list} total={total} nowMs={nowMs} />
            <LatencyChart sessions={list} total={total} nowMs={nowMs} />
          </div>
        )
      }
    </QueryView>
  );
}

function Now({ name }: { name: string }) {
  const { data: agent } = useQuery(queries.agent(name, useAgentRegion()));
  if (!agent) return null;
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Card title="Now">
        <dl className="grid grid-cols-2 gap-4">
          <Figure label="Sessions" value={agent.activeSessionCount} />
          <Figure
            label="Instances"
            value={`${agent.autoScaling.minReplicas} – ${agent.autoScaling.maxReplicas}`}
            note="kept warm – at most"
          />
        </dl>
      </Card>
      <Card title="Deployment">
        <Facts
          facts={[
            { label: "Source", value: agent.deployment ? toSource(agent.deployment.manifest) : "–" },
            { label: "Deployed", value: agent.deployment ? <When time={agent.deployment.createdAt} /> : "–" },
            { label: "Profile", value: agent.agentProfile ?? "–" },
            { label: "Voice filter", value: toFilterWord(agent.vendorViva?.audioFilter ?? null) },
            { label: "Region", value: agent.region },
          ]}
        />
      </Card>
    </div>
  );
}
