// Sessions that are started and stopped at once, half of them by a caller who hung up before the answer came: 300, or as
// many as `VOCALHOST_TEST_CYCLES` says, for a night. They may leave nothing behind.
import assert from "node:assert/strict";
import { ApiError } from "@vocalhost/protocol";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createRandom } from "../../testing/random.ts";
import { eventually, until } from "../../testing/wait.ts";
import { processFigures, type ProcessFigures } from "../harness/process-figures.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { instancesAlive } from "./fault-service.ts";
import { faultBot, openTruthFile } from "./fault-bot.ts";

const CYCLES = Number(process.env["VOCALHOST_TEST_CYCLES"] ?? 300);
const CALLERS = 4;
const AGENT = "echo";
const AUTO_SCALING = { minAgents: 3, maxAgents: 8 };
const HANGS_UP_WITHIN_MS = 80;
const LATER = [429, 503, 504];
const FILES_MORE = 5;
/** Growth of resident memory, in MiB: from garbage, and from a thousand sessions. */
const MEMORY_MORE = { ever: 40, perThousand: 2 };

test(`${CYCLES} sessions are started and stopped, and nothing of them is left`, async (context) => {
  const random = createRandom(Number(process.hrtime.bigint() % 1_000_000n));
  await using service = await startServiceProcess({ timing: { connectDeadlineMs: 5_000 } });
  await service.deploy({
    name: AGENT,
    files: faultBot({ truthFile: openTruthFile(service.dataFolder) }),
    autoScaling: AUTO_SCALING,
  });
  const keys = new Map<string, string>();
  let refused = 0;

  async function start(key: string, signal?: AbortSignal): Promise<string | undefined> {
    const response = await fetch(`${service.apiUrl}/public/${AGENT}/start`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.publicKey}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ transport: "webrtc" }),
      ...(signal && { signal }),
    });
    const answer = (await response.json()) as { sessionId?: string; code?: string };
    if (LATER.includes(response.status)) {
      refused += 1;
      return undefined;
    }
    assert.equal(response.status, 200, `a start was answered with ${answer.code}`);
    return answer.sessionId;
  }

  async function cycle(hangsUp: boolean): Promise<void> {
    const key = randomUUID();
    if (hangsUp) {
      const soon = AbortSignal.timeout(Math.ceil(random() * HANGS_UP_WITHIN_MS));
      await start(key, soon).catch((error: unknown) => {
        if (!soon.aborted) throw error;
      });
    }
    const sessionId = await until(() => start(key), 60_000, "start");
    keys.set(key, sessionId);
    await service.api.sessions.stop(AGENT, sessionId).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 404)) throw error; // nobody came in time
    });
  }

  let begun = 0;
  async function callers(until: number): Promise<void> {
    const caller = async (): Promise<void> => {
      while (begun < until) await cycle((begun += 1) % 2 === 0);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    await settled(service);
  }

  await callers(Math.ceil(CYCLES / 5)); // whatever is loaded and kept once is there by then
  const before = figuresOf(service);
  await callers(CYCLES);
  const after = figuresOf(service);

  const sessions = service.rows<{ id: string; state: string }>("SELECT id, state FROM sessions");
  context.diagnostic(
    `${sessions.length} sessions of ${keys.size} keys, ${refused} times asked to wait; before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`,
  );
  assert.equal(keys.size, CYCLES);
  assert.equal(new Set(keys.values()).size, CYCLES, "one key, one session");
  assert.equal(sessions.length, CYCLES, "no session is without an instance");
  const memoryMost = MEMORY_MORE.ever + (MEMORY_MORE.perThousand * CYCLES) / 1_000;
  for (const name of ["controller", "gateway"] as const) {
    const [files, memory] = (["openFiles", "rssMib"] as const).map(
      (of) => after[name][of] - before[name][of],
    );
    assert.ok(files! <= FILES_MORE, `the ${name} has ${files} files more open`);
    assert.ok(memory! <= memoryMost, `the ${name} has grown by ${memory} MiB`);
  }
});

function figuresOf(service: ServiceProcess): Record<"controller" | "gateway", ProcessFigures> {
  return {
    controller: processFigures(service.pid("controller")),
    gateway: processFigures(service.pid("gateway")),
  };
}

/** Every session has ended, and the pool is as small as it was. */
async function settled(service: ServiceProcess): Promise<void> {
  await eventually({
    what: "end of every session, and a pool of its usual size",
    look: () => ({
      open: service.rows(
        `SELECT id FROM sessions WHERE state IN ('pending', 'starting', 'active', 'stopping')`,
      ).length,
      alive: instancesAlive(service.dataFolder).length,
    }),
    until: ({ open, alive }) => open === 0 && alive === AUTO_SCALING.minAgents,
    quietMs: 60_000,
  });
}
