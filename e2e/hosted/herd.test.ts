// A service restarted with more agents than its machine can load at once.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

const AGENTS = size(10, 60);
/** Of processor time; loading all of them at once would keep each of them from being ready in time. */
const LOADING_MS = 1_000;
const READY_WITHIN_MS = 5_000;
const SLOW_BOT = {
  "bot.ts": `${ECHO_BOT["bot.ts"]}\nwhile (process.cpuUsage().user < ${LOADING_MS * 1_000});\n`,
};

interface Waiting {
  state: string;
  waitsFor?: string;
}

test(
  "a herd of boots waits for its turns, and no bot is blamed for it",
  { timeout: size(300_000, 900_000) },
  async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), "vocalhost-herd-"));
    const options = { dataFolder, timing: { startColdMs: READY_WITHIN_MS } };
    const names = Array.from({ length: AGENTS }, (_, index) => `slow-${index}`);
    try {
      await using before = await startServiceProcess(options);
      const buildId = await before.build(SLOW_BOT);
      for (const serviceName of names) {
        await before.api.agents.create({ serviceName, buildId, autoScaling: { minAgents: 1, maxAgents: 2 } });
        await before.ready(serviceName, ({ available }) => available);
      }
      await before.stop();

      await using service = await startServiceProcess(options);
      const told = new Set<string>();
      const served = new Set<string>();
      await until(
        async () => {
          for (const name of names.filter((each) => !served.has(each))) {
            const { instances } = await service.api.agents.pool(name);
            for (const { state, waitsFor } of instances as Waiting[]) {
              if (state === "ready") served.add(name);
              if (waitsFor !== undefined) told.add(waitsFor);
            }
          }
          return served.size === AGENTS;
        },
        AGENTS * 3_000,
        "instance of every agent",
      );
      assert.ok(told.has("waiting for its turn to boot (2 before it)"), [...told].join("\n"));
      const crashes = service.rows<{ crashes: number; text: string | null }>(
        "SELECT crashes, crash_text AS text FROM deployments WHERE crashes > 0",
      );
      assert.deepEqual(crashes, []);
      const { socket } = await openCall(service, "slow-0");
      socket.socket.close();
    } finally {
      rmSync(dataFolder, { recursive: true, force: true });
    }
  },
);
