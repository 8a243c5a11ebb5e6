// The cost of the hosted service: starts, reads, relaying, memory.
import { readFileSync } from "node:fs";
import { startServiceProcess, type ServiceProcess } from "../../e2e/harness/service-process.ts";
import { until } from "../../testing/wait.ts";
import { pause } from "../machine/child.ts";
import { coresUsed, readMemory, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";
import { bareReads, reads } from "./reads.ts";
import { placeCall, type Call } from "./call.ts";

const WARM_STARTS = 40;
const FIRST_STARTS = 5; // waiting instances learn from them what sessions come over
const FIRST_MINUTE_MS = 40_000; // it loads sign-in after half a minute
const COLD_AGENTS = 8;
const POOL = 50; // as many as an agent may have
const SETTLE_MS = 3_000; // the same, for fifty of them
const REST_MS = 500; // after it is ready, an instance rehearses and starts its threads
const READS_MS = 4_000;
const SIZES = [10, 50, 100];
const MESSAGES_PER_SECOND = 50;
const INSTANCE_MB = 60;
const RELAY_WINDOW_MS = 5_000;
const MESSAGE = Buffer.alloc(640, 1);
const BOT = readFileSync(new URL("entered-bot.ts", import.meta.url), "utf8");

export const hosted: Benchmark = {
  name: "hosted",
  about: "the hosted service: starts, reads, relaying, memory …",
  async run() {
    await using service = await startServiceProcess();
    const startedMs = performance.now();
    await service.deploy({
      name: "bench",
      files: { "bot.ts": BOT },
      autoScaling: { minAgents: 3, maxAgents: 50 },
    });
    return [
      ...(await idleRows(service)),
      ...(await warmRows(service, startedMs)),
      ...(await coldRows()),
      ...(await burstRows()),
      ...(await readRows(service)),
      ...(await liveRows(service)),
    ];
  },
};

async function idleRows(service: ServiceProcess): Promise<Row[]> {
  await warm(service, 3);
  await pause(2_000);
  return [
    memoryRow("controller", service.pid("controller")),
    memoryRow("gateway", service.pid("gateway")),
    memoryRow("warm instance of a new agent", service.instancePids()[0] ?? 0, INSTANCE_MB),
  ];
}

function memoryRow(what: string, pid: number, targetMb?: number): Row {
  const { pssMb, rssMb } = readMemory(pid);
  return {
    what: `idle ${what}, memory`,
    measured: `${figure(pssMb)} MB PSS, ${figure(rssMb)} MB RSS`,
    ...(targetMb ? { target: `≤ ${targetMb} MB PSS`, met: pssMb <= targetMb } : {}),
  };
}

/** As they are when the service has run for a minute and the agent has had sessions. */
async function warmRows(service: ServiceProcess, startedMs: number): Promise<Row[]> {
  for (let count = 0; count < FIRST_STARTS; count++) {
    await atRest(service);
    (await placeCall(service, "bench"))[Symbol.dispose]();
  }
  await pause(Math.max(0, startedMs + FIRST_MINUTE_MS - performance.now()));
  await atRest(service);
  return [
    memoryRow(
      "warm instance of an agent that had sessions",
      Math.max(...service.instancePids()),
      INSTANCE_MB,
    ),
    await warmRow("at rest", service, () => atRest(service)),
    await warmRow("while others boot", service, () => warm(service, 2)),
  ];
}

async function warmRow(what: string, service: ServiceProcess, ready: () => Promise<void>): Promise<Row> {
  const enteredMs: number[] = [];
  for (let count = 0; count < WARM_STARTS; count++) {
    await ready();
    using call = await placeCall(service, "bench");
    enteredMs.push(call.enteredMs);
  }
  const [p50, p99] = [median(enteredMs), percentile(enteredMs, 0.99)];
  return {
    what: `warm start ${what}: \`POST start\`, WebSocket → \`bot\` entered, p50 / p99 of ${WARM_STARTS}`,
    target: "≤ 10 / 50 ms",
    measured: `${figure(p50)} / ${figure(p99)} ms`,
    met: p50 <= 10 && p99 <= 50,
  };
}

// An agent that was never started has no instance but the one that proved it, which goes when it is idle.
async function coldRows(): Promise<Row[]> {
  await using service = await startServiceProcess({ timing: { idleInstanceMs: 200 } });
  const enteredMs: number[] = [];
  for (let count = 0; count < COLD_AGENTS; count++) {
    const name = `cold-${count}`;
    await service.deploy({ name, files: { "bot.ts": BOT }, autoScaling: { minAgents: 0, maxAgents: 2 } });
    await until(() => instancesOf(service, name) === 0, 20_000, "agent at rest");
    using call = await placeCall(service, name);
    enteredMs.push(call.enteredMs);
  }
  return [
    {
      what: `cold start: \`POST start\` → \`bot\` entered, median (slowest) of ${COLD_AGENTS}`,
      target: "≤ 300 ms",
      measured: `${figure(median(enteredMs))} (${figure(percentile(enteredMs, 1))}) ms`,
      met: median(enteredMs) <= 300,
    },
  ];
}

// Every start is one request; it is answered when its session is active. Nothing boots meanwhile.
async function burstRows(): Promise<Row[]> {
  await using service = await startServiceProcess();
  const autoScaling = { minAgents: POOL, maxAgents: POOL };
  await service.deploy({ name: "pool", files: { "bot.ts": BOT }, autoScaling });
  const first = await burst(service);
  const later = await burst(service); // instances know by now what sessions come over
  return [
    {
      what: `starts a second, ${POOL} at once against ${POOL} warm instances`,
      target: "≥ 200",
      ...toldOf(later),
      met: later.perSecond >= 200,
    },
    { what: "the same, the first sessions the agent ever has", ...toldOf(first) },
  ];
}

interface Burst {
  tookMs: number[];
  slowestMs: number;
  perSecond: number;
  controllerCpuMs: number;
}

/** Until all are answered; then they are ended again. */
async function burst(service: ServiceProcess): Promise<Burst> {
  await warm(service, POOL, 300_000);
  await pause(SETTLE_MS);
  const before = readUsage(service.pid("controller"));
  const startedMs = performance.now();
  const started = await Promise.all(
    Array.from({ length: POOL }, async () => {
      const answer = await service.publicApi.sessions.start("pool", { transport: "webrtc" });
      const { sessionId } = answer as { sessionId: string };
      return { sessionId, tookMs: performance.now() - startedMs };
    }),
  );
  const cores = coresUsed(before, readUsage(service.pid("controller")));
  for (const { sessionId } of started) await service.api.sessions.stop("pool", sessionId);
  const tookMs = started.map((each) => each.tookMs);
  const slowestMs = Math.max(...tookMs);
  return {
    ...{ tookMs, slowestMs },
    perSecond: (POOL / slowestMs) * 1000,
    controllerCpuMs: (cores * slowestMs) / POOL,
  };
}

function toldOf({ tookMs, slowestMs, perSecond, controllerCpuMs }: Burst): Pick<Row, "measured" | "note"> {
  return {
    measured: `${figure(perSecond)}, median ${figure(median(tookMs))} ms, slowest ${figure(slowestMs)} ms`,
    note: `${figure(controllerCpuMs)} ms CPU of the controller a start`,
  };
}

async function readRows(service: ServiceProcess): Promise<Row[]> {
  const bare = await bareReads(READS_MS);
  const rows: Row[] = [];
  for (const path of ["/regions", "/agents/bench"]) {
    const before = readUsage(service.pid("controller"));
    const headers = { authorization: `Bearer ${service.privateKey}` };
    const read = await reads(`${service.apiUrl}${path}`, headers, READS_MS);
    const cores = coresUsed(before, readUsage(service.pid("controller")));
    const cpuUs = (cores * 1e6) / read.perSecond;
    rows.push({
      what: `GET /v1${path} with a private key, a second`,
      target: "≥ 0.5 × a bare route",
      measured: `${figure(read.perSecond)}, p99 ${figure(read.p99Ms)} ms, ${figure(cpuUs)} µs CPU of the controller`,
      baseline: `a bare route behind the gateway ${figure(bare.perSecond)} (${ratio(read.perSecond, bare.perSecond)})`,
      met: read.perSecond >= bare.perSecond * 0.5,
    });
  }
  return rows;
}

async function liveRows(service: ServiceProcess): Promise<Row[]> {
  const rows: Row[] = [];
  await using stack = new AsyncDisposableStack();
  const open: Call[] = [];
  const agents = ["bench"];
  for (const size of SIZES) {
    while (open.length < size) {
      const agent = agents[Math.floor(open.length / 50)] ?? (await secondAgent(service, agents));
      const call = await placeCall(service, agent);
      stack.use(call);
      open.push(call);
    }
    rows.push(await relayRow(service, open));
  }
  return rows;
}

async function secondAgent(service: ServiceProcess, agents: string[]): Promise<string> {
  const name = `bench-${agents.length + 1}`;
  await service.deploy({ name, files: { "bot.ts": BOT }, autoScaling: { minAgents: 1, maxAgents: 50 } });
  agents.push(name);
  return name;
}

async function relayRow(service: ServiceProcess, open: Call[]): Promise<Row> {
  await pause(3_000); // what was started for the demand settles
  let received = 0;
  for (const { socket } of open) socket.removeAllListeners("message").on("message", () => received++);
  const timer = setInterval(() => {
    for (const { socket } of open) socket.send(MESSAGE);
  }, 1000 / MESSAGES_PER_SECOND);
  await pause(500);
  const [gatewayBefore, controllerBefore, receivedBefore] = [
    readUsage(service.pid("gateway")),
    readUsage(service.pid("controller")),
    received,
  ];
  await pause(RELAY_WINDOW_MS);
  const gatewayCores = coresUsed(gatewayBefore, readUsage(service.pid("gateway")));
  const controllerCores = coresUsed(controllerBefore, readUsage(service.pid("controller")));
  clearInterval(timer);
  const messages = (received - receivedBefore) * 2; // each way
  const microseconds = (gatewayCores * RELAY_WINDOW_MS * 1000) / messages;
  return {
    what: `${open.length} live sessions, ${MESSAGES_PER_SECOND} messages a second each way: gateway per message`,
    target: "≤ 40 µs CPU",
    measured: `${figure(microseconds)} µs; gateway ${figure(gatewayCores * 100)} %, controller ${figure(controllerCores * 100)} % of a core`,
    met: microseconds <= 40,
    note: `${figure(messages / (RELAY_WINDOW_MS / 1000))} messages a second`,
  };
}

function instancesOf(service: ServiceProcess, agent: string): number {
  const sql =
    "SELECT i.id FROM instances i JOIN agents a ON a.id = i.agent_id WHERE a.name = ? AND i.state NOT IN ('stopped', 'lost')";
  return service.rows(sql, agent).length;
}

/** Nothing but idle instances: what the last call cost is over. */
async function atRest(service: ServiceProcess): Promise<void> {
  await warm(service, 3);
  await until(
    () =>
      service.rows("SELECT id FROM instances WHERE state NOT IN ('ready', 'stopped', 'lost')").length === 0,
    30_000,
    "a service at rest",
  );
  await pause(REST_MS);
}

async function warm(service: ServiceProcess, count: number, timeoutMs = 30_000): Promise<void> {
  await until(
    () =>
      service.rows<{ id: string }>("SELECT id FROM instances WHERE state = 'ready' AND session_id IS NULL")
        .length >= count,
    timeoutMs,
    "warm instances",
  );
}
