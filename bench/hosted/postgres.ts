// Starts on Postgres, beyond what one machine's bots would allow: the instances only pretend.
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";
import { fillHistory } from "./pretended/history.ts";
import { startPretendedService } from "./pretended/service.ts";
import { burst, type Burst } from "./pretended/starts.ts";

const BURSTS = [
  { callers: 1, starts: 100 },
  { callers: 10, starts: 200 },
  { callers: 50, starts: 300 },
];
const AFTER = [10_000, 100_000];
const STARTS_AFTER = 150;

export const postgres: Benchmark = {
  name: "postgres",
  about: "starts on Postgres against instances that only pretend: how many a second, what one costs …",
  async run() {
    await using pretended = await startPretendedService();
    const rows: Row[] = [];
    for (const { callers, starts } of BURSTS) rows.push(rowOf(await burst(pretended, { callers, starts })));
    const first = await burst(pretended, { callers: 10, starts: STARTS_AFTER });
    for (const sessions of AFTER) {
      await fillHistory(pretended.postgres, sessions);
      const later = await burst(pretended, { callers: 10, starts: STARTS_AFTER });
      rows.push(historyRow(sessions, { first, later }));
    }
    return rows;
  },
};

function rowOf({ callers, tookMs, perSecond, ...each }: Burst): Row {
  return {
    what: `starts a second on Postgres, ${callers} ${callers === 1 ? "caller" : "callers"}, pretended instances`,
    ...(callers === 1 ? {} : { target: "≥ 200", met: perSecond >= 200 }),
    measured: `${figure(perSecond)}, p50 / p99 ${figure(median(tookMs))} / ${figure(percentile(tookMs, 0.99))} ms`,
    note: `a start: ${costsOf(each)}, ${figure(each.statements)} statements`,
  };
}

function historyRow(sessions: number, { first, later }: { first: Burst; later: Burst }): Row {
  const cpuMs = ({ controllerMs, postgresMs }: Burst): number => controllerMs + postgresMs;
  return {
    what: `CPU of a start after ${sessions} sessions, controller and Postgres`,
    target: "≤ 1.5 × as at first",
    measured: `${figure(cpuMs(later))} ms (${ratio(cpuMs(later), cpuMs(first))})`,
    baseline: `${figure(cpuMs(first))} ms`,
    met: cpuMs(later) <= cpuMs(first) * 1.5,
    note: `${costsOf(later)}, at first ${costsOf(first)}`,
  };
}

function costsOf({
  controllerMs,
  gatewayMs,
  postgresMs,
}: Pick<Burst, "controllerMs" | "gatewayMs" | "postgresMs">): string {
  return `CPU of controller ${figure(controllerMs)}, gateway ${figure(gatewayMs)}, Postgres ${figure(postgresMs)} ms`;
}
