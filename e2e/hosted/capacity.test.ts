// How many sessions there can be, and how many instances there are for them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { patientMs } from "../../testing/patience.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { tryUpgrade } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";
import { ECHO_BOT, openCall, prepareCall, start } from "./hosted-calls.ts";

const TIMING = { reconcileMs: 200, idleInstanceMs: 1_500, demandMs: 3_000 };
const STARTS = size(8, 50);
const MAX_AGENTS = size(3, 20);
const REFUSED_MS = 2_000;

interface InstanceFacts {
  state: string;
  session_id: string | null;
}

function instancesOf(service: ServiceProcess, agent: string): InstanceFacts[] {
  return service.rows<InstanceFacts>(
    `SELECT instances.* FROM instances JOIN agents ON agents.id = instances.agent_id
     WHERE agents.name = ? AND instances.state NOT IN ('stopped', 'lost')`,
    agent,
  );
}

const isFree = ({ state, session_id }: InstanceFacts): boolean => state === "ready" && session_id === null;

function countsOf(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe("capacity", () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess({ timing: TIMING });
    await service.deploy({
      name: "crowd",
      files: ECHO_BOT,
      autoScaling: { minAgents: 0, maxAgents: MAX_AGENTS },
    });
  });
  after(() => service[Symbol.asyncDispose]());

  test("as many sessions as instances are allowed, the rest is told to come back", async () => {
    let most = 0;
    let isOver = false;
    const watching = until(
      () => {
        most = Math.max(most, service.instancePids().length);
        return isOver;
      },
      180_000,
      "end of the watch",
    );
    const startedMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: STARTS }, async () => {
        const answer = await start(service, "crowd");
        return { answer, tookMs: performance.now() - startedMs };
      }),
    );
    const started = answers.filter(({ answer }) => answer.status === 200);
    const refused = answers.filter(({ answer }) => answer.status === 429);
    const all = answers.map(({ answer }) => answer);
    assert.deepEqual(countsOf(all), { 200: MAX_AGENTS, 429: STARTS - MAX_AGENTS });
    for (const { answer, tookMs } of refused) {
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
      const { code } = (await answer.json()) as { code: string };
      assert.equal(code, "AGENT-AT-CAPACITY");
      assert.ok(tookMs < patientMs(REFUSED_MS), `refused after ${Math.round(tookMs)} ms`);
    }
    const ids = await Promise.all(
      started.map(async ({ answer }) => ((await answer.json()) as { sessionId: string }).sessionId),
    );
    assert.equal(new Set(ids).size, MAX_AGENTS);
    assert.equal(service.instancePids().length, MAX_AGENTS);
    await Promise.all(ids.map((id) => service.api.sessions.stop("crowd", id)));
    for (const id of ids) assert.equal(await service.sessionEnded(id, 30_000), "stopped");
    isOver = true;
    await watching;
    assert.equal(most, MAX_AGENTS, "never one more");
  });

  test("scales to zero when it has been quiet", async () => {
    await until(() => instancesOf(service, "crowd").length === 0, 60_000, "empty pool");
    await until(() => service.instancePids().length === 0, 10_000, "end of every process");
    const { available, ready } = await service.api.agents.get("crowd");
    assert.deepEqual({ available, ready }, { available: true, ready: true });
  });

  test("reserved instances start sessions warm and are replaced", async () => {
    await service.deploy({ name: "warm", files: ECHO_BOT, autoScaling: { minAgents: 2, maxAgents: 5 } });
    const isRefilled = () => instancesOf(service, "warm").filter(isFree).length === 2;
    await until(isRefilled, 30_000, "reserve");
    const { sessionId, socket } = await openCall(service, "warm");
    using _socket = socket;
    const { coldStart, botStartSeconds } = await service.api.sessions.get("warm", sessionId);
    assert.equal(coldStart, false);
    assert.ok(botStartSeconds !== null && botStartSeconds < 3, `${botStartSeconds} s`);
    await until(isRefilled, 30_000, "reserve again");
    assert.equal(instancesOf(service, "warm").length, 3);
    socket.socket.close();
    await service.sessionEnded(sessionId);
    // Long after the idle time, the reserve is still there.
    const { ready } = await until(
      async () => {
        const ages = service.rows<{ age: number }>(
          `SELECT unixepoch('subsec') * 1000 - MIN(state_at) AS age FROM instances JOIN agents ON agents.id = agent_id
           WHERE agents.name = 'warm' AND instances.state = 'ready'`,
        );
        return (ages[0]?.age ?? 0) > 2 * TIMING.idleInstanceMs && { ready: isRefilled() };
      },
      30_000,
      "aged reserve",
    );
    assert.ok(ready);
  });

  test("a cold start is called one", async () => {
    const { sessionId, socket } = await openCall(service, "crowd");
    using _socket = socket;
    const { coldStart, timeline } = await service.api.sessions.get("crowd", sessionId);
    assert.equal(coldStart, true);
    assert.ok((timeline.bootMs ?? 0) > 100, JSON.stringify(timeline));
  });

  test("a key's sessions at once are limited, over every transport", async () => {
    const { key } = await service.api.keys.create({ name: "two at once", type: "public", concurrency: 2 });
    const calls = await Promise.all([1, 2, 3].map(() => prepareCall(service, "crowd", { key })));
    const upgrades = await Promise.all(calls.map(({ url }) => tryUpgrade(url)));
    assert.deepEqual(countsOf(upgrades), { 101: 2, 429: 1 });
    for (const transport of ["webrtc", "websocket"]) {
      const refused = await start(service, "crowd", { key, transport });
      assert.equal(refused.status, 429, transport);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.equal(((await refused.json()) as { code: string }).code, "RATE_LIMITED");
    }
    for (const { client } of upgrades) client?.socket.close();
    for (const [at, { sessionId }] of calls.entries())
      if (upgrades[at]?.client) await service.sessionEnded(sessionId);
    const again = await start(service, "crowd", { key, transport: "websocket" });
    assert.equal(again.status, 200);
  });

  test("a key's starts a minute are limited", async () => {
    const options = { name: "three a minute", type: "public", ratePerMinute: 3, agents: ["crowd"] } as const;
    const { key } = await service.api.keys.create({ ...options, agents: [...options.agents] });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => start(service, "crowd", { key, transport: "websocket" })),
    );
    assert.deepEqual(countsOf(answers), { 200: 3, 429: 2 });
    assert.equal((await start(service, "warm", { key })).status, 404, "an agent that is not on its list");
  });
});

describe("waiting for room", () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess({ timing: TIMING, environment: { VOCALHOST_QUEUE_MS: "20000" } });
    await service.deploy({ name: "single", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 1 } });
  });
  after(() => service[Symbol.asyncDispose]());

  for (const transport of ["webrtc", "websocket"])
    test(`${transport}: a waiting caller is let in when a session ends`, async () => {
      const { sessionId, socket } = await openCall(service, "single");
      using _socket = socket;
      let isIn = false;
      const waiting = (async () => {
        if (transport === "webrtc") {
          const answer = await start(service, "single");
          isIn = true;
          assert.equal(answer.status, 200);
          return ((await answer.json()) as { sessionId: string }).sessionId;
        }
        const call = await openCall(service, "single");
        isIn = true;
        call.socket.socket.close();
        return call.sessionId;
      })();
      await until(() => instancesOf(service, "single").length === 1, 5_000, "full pool");
      assert.equal(isIn, false);
      socket.socket.close();
      await service.sessionEnded(sessionId);
      const next = await waiting;
      assert.notEqual(next, sessionId);
      if (transport === "webrtc") await service.api.sessions.stop("single", next);
      await service.sessionEnded(next);
    });
});
