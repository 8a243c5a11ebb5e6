import type { Session } from "@vocalhost/protocol";
import { useMemo } from "react";
import { toDelay } from "../../shared/duration.ts";
import { Card } from "../ui/card.tsx";
import { Chart } from "../ui/chart.tsx";
import { concurrencyOf, percentile, startsOf } from "./session-figures.ts";

interface ChartCardProps {
  sessions: Session[];
  /** All there were; the list may hold fewer. */
  total: number;
  nowMs: number;
}

export function SessionsChart({ sessions, total, nowMs }: ChartCardProps) {
  const { times, values } = useMemo(() => concurrencyOf(sessions, nowMs), [sessions, nowMs]);
  const series = useMemo(
    () => [{ label: "Concurrent sessions", values, kind: "step" as const, tone: "accent" as const }],
    [values],
  );
  const span = useMemo(() => spanOf(sessions, nowMs), [sessions, nowMs]);
  const most = values.reduce((high, value) => Math.max(high, value), 0);
  return (
    <Card title="Sessions" about={`${total} in the last 24 hours, at most ${most} at once`}>
      <Chart
        times={times}
        series={series}
        toText={(value) => (Number.isInteger(value) ? String(value) : "")}
        atLeast={2}
        span={span}
        summary={`Concurrent sessions over the last 24 hours, at most ${most}.`}
      />
      <Partial shown={sessions.length} total={total} />
    </Card>
  );
}

export function LatencyChart({ sessions, total, nowMs }: ChartCardProps) {
  const { times, warm, cold } = useMemo(() => startsOf(sessions), [sessions]);
  const series = useMemo(
    () => [
      { label: "Warm start", values: warm, kind: "points" as const, tone: "accent" as const },
      { label: "Cold start", values: cold, kind: "points" as const, tone: "warn" as const },
    ],
    [warm, cold],
  );
  const span = useMemo(() => spanOf(sessions, nowMs), [sessions, nowMs]);
  const all = [...warm, ...cold].filter((value) => value !== null);
  const words = `median ${inWords(percentile(all, 50))}, 95% within ${inWords(percentile(all, 95))}`;
  return (
    <Card title="Start latency" about={`From the request until the bot started: ${words}`}>
      <Chart
        times={times}
        series={series}
        toText={(value) => (value === 0 ? "0" : toDelay(value * 1000))}
        span={span}
        atLeast={0.1}
        summary={`Start latency over the last 24 hours: ${words}.`}
      />
      <Partial shown={sessions.length} total={total} />
    </Card>
  );
}

const SPAN_MIN_MS = 900_000;

/** From the first session until now, a quarter of an hour at least. */
function spanOf(sessions: Session[], nowMs: number): [from: number, to: number] {
  const firstMs = Date.parse(sessions.at(-1)?.createdAt ?? new Date(nowMs).toISOString());
  return [Math.min(firstMs, nowMs - SPAN_MIN_MS) / 1000, nowMs / 1000];
}

function inWords(seconds: number | undefined): string {
  return seconds === undefined ? "–" : toDelay(seconds * 1000);
}

function Partial({ shown, total }: { shown: number; total: number }) {
  if (shown >= total) return null;
  return <p className="mt-2 text-[0.8125rem] text-muted">Drawn from the latest {shown} of them.</p>;
}
