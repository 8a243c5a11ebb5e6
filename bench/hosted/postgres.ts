// Starts on Postgres, beyond what one machine's bots would allow: the instances only pretend.
import { coresUsed, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { pause } from "../machine/child.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";
import { fillHistory } from "./pretended/history.ts";
import { freeAgents, startPretendedService, type PretendedService } from "./pretended/service.ts";

const BURSTS = [
  { callers: 1, starts: 100 },
  { callers: 10, starts: 200 },
  { callers: 50, starts: 300 },
];
const AFTER = [10_000, 100_000];
const STARTS_AFTER = 150;
const REST_MS = 6_000;

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

interface Burst {
  callers: number;
  tookMs: number[];
  perSecond: number;
  /** Of one start, with what the service did beside it at rest taken off. */
  statements: number;
  controllerMs: number;
  gatewayMs: number;
  postgresMs: number;
}

/** Every caller asks for the next session as soon as it has one. No instance is made meanwhile. */
async function burst(
  pretended: PretendedService,
  { callers, starts }: { callers: number; starts: number },
): Promise<Burst> {
  await pretended.fill(starts);
  const free = await freeAgents(pretended);
  const rest = await spent(pretended, () => pause(REST_MS));
  const tookMs: number[] = [];
  let left = starts;
  const load = await spent(pretended, () =>
    Promise.all(
      Array.from({ length: callers }, async () => {
        while (left-- > 0) {
          const askedMs = performance.now();
          await pretended.service.publicApi.sessions.start(next(free), { transport: "webrtc" });
          tookMs.push(performance.now() - askedMs);
        }
      }),
    ),
  );
  const each = (name: "statements" | "controllerMs" | "gatewayMs" | "postgresMs"): number =>
    Math.max(0, load[name] - (rest[name] / rest.wallMs) * load.wallMs) / starts;
  return {
    callers,
    tookMs,
    perSecond: (starts / load.wallMs) * 1_000,
    statements: each("statements"),
    controllerMs: each("controllerMs"),
    gatewayMs: each("gatewayMs"),
    postgresMs: each("postgresMs"),
  };
}

function next(free: string[]): string {
  const name = free.shift();
  if (name === undefined) throw new Error("No instance is free any more");
  return name;
}

async function spent({ service, postgres: store }: PretendedService, run: () => Promise<unknown>) {
  const controller = readUsage(service.pid("controller"));
  const gateway = readUsage(service.pid("gateway"));
  const statements = await store.statements();
  const postgresMs = store.cpuMs();
  await run();
  const after = readUsage(service.pid("controller"));
  const wallMs = after.atMs - controller.atMs;
  return {
    wallMs,
    controllerMs: coresUsed(controller, after) * wallMs,
    gatewayMs: coresUsed(gateway, readUsage(service.pid("gateway"))) * wallMs,
    postgresMs: store.cpuMs() - postgresMs,
    statements: (await store.statements()) - statements,
  };
}

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
