// More agents than a machine can load at once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, ended, openCall } from "./hosted-calls.ts";

const AGENTS = Math.max(size(8, 60), 2 * availableParallelism() + 4);
/** Processor time a boot takes; loading all bots at once would keep each of them from being ready in time. */
const LOADING_MS = 700;
const READY_WITHIN_MS = 3_000;
const SLOW_BOT = {
  "bot.ts": `${ECHO_BOT["bot.ts"]}\nwhile (process.cpuUsage().user < ${LOADING_MS * 1_000});\n`,
};
/** Other work beside the service, and starts of an agent whose instances were ready before the herd came. */
const BUSY_PROCESSES = size(0, 2);
const READY_STARTS = size(2, 10);

function keepBusy(): Disposable {
  const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  return { [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** Starts the agent; gives how long it took until its WebSocket was open. */
async function startOne(service: ServiceProcess, agent: string): Promise<number> {
  const askedAtMs = performance.now();
  const { sessionId, socket } = await openCall(service, agent);
  const tookMs = performance.now() - askedAtMs;
  socket.socket.close();
  assert.equal((await ended(service, agent, sessionId)).coldStart, false);
  return tookMs;
}

test("a herd of boots waits for its turns, and no bot is blamed for it", { timeout: 600_000 }, async (t) => {
  await using service = await startServiceProcess({ timing: { startColdMs: READY_WITHIN_MS } });
  const instances = { minAgents: READY_STARTS, maxAgents: 2 * READY_STARTS };
  await service.deploy({ name: "ready", files: ECHO_BOT, autoScaling: instances });
  const warm = async (): Promise<boolean> =>
    (await service.api.agents.pool("ready")).counts.warm >= READY_STARTS;
  await until(warm, READY_STARTS * 3_000, "instances to start on");
  using stack = new DisposableStack();
  for (let index = 0; index < BUSY_PROCESSES; index += 1) stack.use(keepBusy());
  const buildId = await service.build(SLOW_BOT);
  const names = Array.from({ length: AGENTS }, (_, index) => `slow-${index}`);
  const autoScaling = { minAgents: 1, maxAgents: 2 };
  await Promise.all(
    names.map((serviceName) => service.api.agents.create({ serviceName, buildId, autoScaling })),
  );
  const told = new Set<string>();
  const isReady = async (name: string): Promise<boolean> => {
    const { counts, instances } = await service.api.agents.pool(name);
    for (const { waitsFor } of instances) if (waitsFor !== undefined) told.add(waitsFor);
    return counts.warm > 0;
  };
  const countReady = async () => (await Promise.all(names.map(isReady))).filter(Boolean).length;
  const startsMs: number[] = [];
  for (let count = 0; count < READY_STARTS; count += 1) {
    const booted = Math.floor((count * AGENTS) / READY_STARTS); // spread over the time that the herd takes
    await until(async () => (await countReady()) >= booted, AGENTS * 3_000, `instances of ${booted} agents`);
    startsMs.push(await startOne(service, "ready"));
  }
  await until(async () => (await countReady()) === AGENTS, AGENTS * 3_000, "instance of every agent");
  t.diagnostic(
    `${READY_STARTS} starts of an agent that was ready, while ${AGENTS} others booted: ${startsMs.map(Math.round).join(", ")} ms to the open WebSocket; load ${loadavg()[0]?.toFixed(1)}`,
  );
  const crashes = "SELECT crashes, crash_text FROM deployments WHERE crashes > 0 OR crash_text IS NOT NULL";
  assert.deepEqual(service.rows(crashes), []);
  assert.ok(told.size > 1);
  for (const each of told) assert.match(each, /^waiting for its turn to boot \(\d+ before it\)$/);
  const { socket } = await openCall(service, "slow-0");
  socket.socket.close();
});
