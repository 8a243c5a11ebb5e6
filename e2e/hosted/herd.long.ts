// More agents than a machine can load at once.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

const AGENTS = Math.max(size(8, 60), 2 * availableParallelism() + 4);
/** Processor time a boot takes; loading all bots at once would keep each of them from being ready in time. */
const LOADING_MS = 700;
const READY_WITHIN_MS = 3_000;
const SLOW_BOT = {
  "bot.ts": `${ECHO_BOT["bot.ts"]}\nwhile (process.cpuUsage().user < ${LOADING_MS * 1_000});\n`,
};

test("a herd of boots waits for its turns, and no bot is blamed for it", { timeout: 300_000 }, async () => {
  await using service = await startServiceProcess({ timing: { startColdMs: READY_WITHIN_MS } });
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
  const areReady = async () => (await Promise.all(names.map(isReady))).every(Boolean);
  await until(areReady, AGENTS * 3_000, "instance of every agent");
  const crashes = "SELECT crashes, crash_text FROM deployments WHERE crashes > 0 OR crash_text IS NOT NULL";
  assert.deepEqual(service.rows(crashes), []);
  assert.ok(told.size > 1);
  for (const each of told) assert.match(each, /^waiting for its turn to boot \(\d+ before it\)$/);
  const { socket } = await openCall(service, "slow-0");
  socket.socket.close();
});
