// Calls with bots as pods, while the agent is rolled out, a node is drained and the API server is away.
import type { V1Pod } from "@kubernetes/client-node";
import { ApiError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { after, afterEach, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { until } from "../../testing/wait.ts";
import { freePeerClients } from "../harness/peer-client.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { CallRefusedError, type Call } from "../hosted/fault-call.ts";
import { readTestCluster } from "./config.ts";
import { drainNode, uncordonNode } from "./drain-node.ts";
import { nothingIsOrphaned, type OpenSession } from "./leftovers.ts";
import { callOverSocket, callOverWebRtc, countingBot, goOn, hangUp, type Door } from "./live-calls.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const AGENT = "echo";
const OUTAGE_MS = 60_000;
const ENDED_MS = 60_000;
const { api: apiServer } = readTestCluster();
const run = promisify(exec);

describe("calls with pods", () => {
  const stack = new AsyncDisposableStack();
  let cluster: TestCluster;
  let service: ServiceProcess;
  let door: Door;
  before(async () => {
    cluster = stack.use(await openTestCluster());
    service = stack.use(
      await startServiceProcess({
        environment: cluster.settings(),
        timing: { idleInstanceMs: 5_000 },
      }),
    );
    door = { ...service, port: Number(new URL(service.apiUrl).port) };
    await service.deploy({
      name: AGENT,
      image: await cluster.push(countingBot("first")),
      autoScaling: { minAgents: 2, maxAgents: 6 }, // as many as fit on a node of two cores
      vendorViva: { audioFilter: "tel" }, // so that calls are in the ledger
    });
  });
  afterEach((context) => {
    if ("passed" in context && !context.passed) process.stderr.write(`${complaints()}\n`);
  });
  after(async () => {
    freePeerClients();
    await service.stop();
    assert.deepEqual(await podsHere(), [], "whoever ends leaves no pod");
    await stack.disposeAsync();
  });

  function complaints(): string {
    const lines = service.output().split("\n");
    return lines.filter((line) => /"level":[4-9]0/.test(line)).join("\n");
  }

  async function podsHere(state?: "busy" | "idle") {
    const { api, namespace } = cluster;
    const labelSelector = `vocalhost.github.io/instance${state ? `,vocalhost.github.io/state=${state}` : ""}`;
    return (await api.listNamespacedPod({ namespace, labelSelector })).items;
  }

  const busyPods = (count: number): Promise<true> =>
    until(async () => (await podsHere("busy")).length === count, 60_000, `${count} pods with a call`);
  const idlePods = (count: number): Promise<true> =>
    until(
      async () => (await podsHere("idle")).filter(isReady).length >= count,
      60_000,
      `${count} pods that wait for a call`,
    );

  const books = {
    liveInstances: () =>
      service
        .rows<{ id: string }>("SELECT id FROM instances WHERE state NOT IN ('stopped', 'lost')")
        .map(({ id }) => id),
    openSessions: () =>
      service.rows<OpenSession>(
        "SELECT id, instance_id AS instanceId FROM sessions WHERE state IN ('starting', 'active', 'stopping')",
      ),
  };

  /** Each has ended as its caller wished, and is in the ledger once, or not at all if it was too short. */
  async function ended(sessionIds: string[], reason: string): Promise<void> {
    for (const id of sessionIds) {
      const { endReason, seconds } = await until(
        () => {
          const sql = "SELECT state, end_reason AS endReason, seconds FROM sessions WHERE id = ?";
          const [row] = service.rows<{ state: string; endReason: string; seconds: number }>(sql, id);
          return row?.state === "ended" && row;
        },
        ENDED_MS,
        `end of session ${id}`,
      );
      assert.equal(endReason, reason);
      const usage = service.rows<{ seconds: number }>("SELECT seconds FROM usage WHERE session_id = ?", id);
      assert.deepEqual(
        usage.map((row) => row.seconds),
        seconds > 0 ? [seconds] : [],
      );
    }
  }

  test("another image is rolled out: calls go on with the old one, the next has the new one, then the old is gone", async () => {
    using old = await callOverSocket(door, AGENT);
    using peer = await callOverWebRtc(door, AGENT);
    assert.equal(old.version, "first");
    await goOn([old], [peer]);
    const before = await service.api.agents.get(AGENT);
    await service.api.agents.update(AGENT, { image: await cluster.push(countingBot("second")) });
    await service.ready(AGENT, ({ activeDeploymentId }) => activeDeploymentId !== before.activeDeploymentId);
    using next = await callOverSocket(door, AGENT);
    assert.equal(next.version, "second");
    await goOn([old, next], [peer]);
    await hangUp([old, next], [peer]);
    await ended([old.sessionId, next.sessionId], "bot-finished");
    await ended([peer.sessionId], "client-left");
    const ofBefore = `vocalhost.github.io/deployment=${before.activeDeploymentId}`;
    await until(
      async () => {
        const { api, namespace } = cluster;
        return (await api.listNamespacedPod({ namespace, labelSelector: ofBefore })).items.length === 0;
      },
      60_000,
      "end of the old pods",
    );
    await nothingIsOrphaned(cluster, books);
  });

  test("a node is drained: pods with a call stay until it is over, the others go at once, and come back", async () => {
    using call = await callOverSocket(door, AGENT);
    using peer = await callOverWebRtc(door, AGENT);
    await busyPods(2);
    await idlePods(2);
    const busy = await podsHere("busy");
    const idle = new Set((await podsHere("idle")).map(({ metadata }) => metadata?.uid));
    const node = busy[0]?.spec?.nodeName ?? "";
    const onNode = busy.filter(({ spec }) => spec?.nodeName === node).length;
    try {
      const drained = drainNode(cluster, node);
      const refused = await until(() => drained.refused >= 2 * onNode && drained.refused, 60_000, "refusals");
      assert.ok(refused > 0);
      await until(
        async () =>
          !(await podsHere()).some(
            ({ metadata, spec }) => idle.has(metadata?.uid) && spec?.nodeName === node,
          ),
        60_000,
        "end of the idle pods",
      );
      await goOn([call], [peer]);
      await hangUp([call], [peer]);
      await drained.done();
      assert.deepEqual(
        (await podsHere()).filter(({ spec }) => spec?.nodeName === node),
        [],
      );
      await ended([call.sessionId], "bot-finished");
      await ended([peer.sessionId], "client-left");
    } finally {
      await uncordonNode(cluster, node);
    }
    using next = await callOverSocket(door, AGENT);
    await goOn([next]);
    await hangUp([next]);
    await ended([next.sessionId], "bot-finished");
    await nothingIsOrphaned(cluster, books);
  });

  test(
    "the API server is away for a minute and the controller is killed: calls go on and end, waiting pods take more of them, and all converges",
    {
      skip: apiServer
        ? false
        : "VOCALHOST_TEST_STOP_API and VOCALHOST_TEST_START_API say how to stop the API server",
    },
    async (context) => {
      assert.ok(apiServer);
      using stays = await callOverSocket(door, AGENT);
      using ends = await callOverSocket(door, AGENT);
      using peer = await callOverWebRtc(door, AGENT);
      await goOn([stays, ends], [peer]);
      await busyPods(3);
      await idlePods(2);
      await run(apiServer.stop);
      const stoppedMs = performance.now();
      const during: Call[] = [];
      const refusals: string[] = [];
      try {
        await service.replaceController();
        context.diagnostic(`another leads after ${Math.round(performance.now() - stoppedMs)} ms`);
        await hangUp([ends]);
        await ended([ends.sessionId], "bot-finished");
        while (performance.now() - stoppedMs < OUTAGE_MS) {
          await goOn([stays, ...during], [peer]);
          if (during.length + refusals.length >= 3) continue; // one more than pods that wait
          const next = await callOverSocket(door, AGENT).catch((error: Error) => error);
          if (next instanceof Error) refusals.push(inWords(next));
          else during.push(next);
        }
      } finally {
        await run(apiServer.start);
      }
      context.diagnostic(
        `${during.length} more calls while it was away; ${refusals.join("; ") || "none refused"}`,
      );
      assert.ok(during.length >= 2, `pods that wait take calls: ${refusals.join("; ")}`);
      await goOn([stays, ...during], [peer]);
      await nothingIsOrphaned(cluster, books);
      await busyPods(2 + during.length);
      using next = await until(() => callOverSocket(door, AGENT).catch(() => undefined), 60_000, "next call");
      const calls = [stays, next, ...during];
      await hangUp(calls, [peer]);
      await ended(
        calls.map(({ sessionId }) => sessionId),
        "bot-finished",
      );
      await ended([peer.sessionId], "client-left");
      await busyPods(0);
      await nothingIsOrphaned(cluster, books);
    },
  );
});

function isReady({ status }: V1Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** A refusal that says why; anything else is a fault. */
function inWords(error: Error): string {
  assert.ok(error instanceof ApiError || error instanceof CallRefusedError, String(error));
  assert.ok([429, 503, 504].includes(error.status), String(error));
  return error.message;
}
