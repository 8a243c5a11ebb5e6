// The hosted service with bots as pods of a real cluster: an image is deployed, called, watched over and scaled to zero.
import { parseWav } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { requireBaseImage } from "../../testing/base-image.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openCall } from "../hosted/hosted-calls.ts";
import { speakSlowly } from "./speak-slowly.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const ECHO_BOT = readFileSync(new URL("../bots/hosted-bot.ts", import.meta.url), "utf8");
const PARROT = new URL("../../examples/parrot/bot.ts", import.meta.url);
const SPEECH = new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);

test("an image is deployed, answers, is read, outlives a controller and goes to zero and back", async (t) => {
  await using cluster = await openTestCluster();
  const image = await cluster.push(ECHO_BOT);
  await using service = await startServiceProcess({
    environment: cluster.settings(),
    timing: { heartbeatMs: 1_000, idleInstanceMs: 1_000 },
  });
  await service.api.agents.create({
    serviceName: "echo",
    image,
    autoScaling: { minAgents: 1, maxAgents: 5 },
  });
  const record = await active(service, "echo");
  assert.match(record.digest ?? "", /^sha256:/);

  const call = await openCall(service, "echo", { body: { say: ["hello from a pod"] } });
  const speak = setInterval(() => call.socket.sendAudio(new Int16Array(320).fill(1_000), 16_000), 20);
  await until(() => call.socket.heardMs > 200, 20_000, "what was said");
  await until(
    async () =>
      (await service.api.agents.logs("echo")).logs.some(({ log }) => log.includes("hello from a pod")),
    30_000,
    "log line",
  );
  await until(async () => (await podsOf(cluster, "busy")).length === 1, 30_000, "busy pod");
  const [busy] = await podsOf(cluster, "busy");
  assert.equal(busy?.metadata?.labels?.["vocalhost.github.io/agent-name"], "echo");

  await service.replaceController();
  call.socket.restart();
  await until(() => call.socket.heardMs > 500, 20_000, "what was said to the next controller");
  clearInterval(speak);
  call.socket.socket.close();
  assert.equal(await service.sessionEnded(call.sessionId, 60_000), "client-left");

  await service.api.agents.update("echo", { autoScaling: { minAgents: 0, maxAgents: 5 } });
  await until(async () => (await podsOf(cluster)).length === 0, 60_000, "scale to zero");
  const askedMs = performance.now();
  const cold = await openCall(service, "echo");
  t.diagnostic(
    `cold start: ${Math.round(performance.now() - askedMs)} ms from the request to an open socket`,
  );
  cold.socket.socket.close();
  assert.equal(await service.sessionEnded(cold.sessionId, 60_000), "client-left");
  await service.stop();
  assert.deepEqual(await podsOf(cluster), []);
});

test("the parrot on the base image hears somebody out and repeats it", async () => {
  await using cluster = await openTestCluster();
  const image = await cluster.push(readFileSync(PARROT, "utf8"), (await requireBaseImage()).image);
  await using service = await startServiceProcess({ environment: cluster.settings() });
  await service.api.agents.create({
    serviceName: "parrot",
    image,
    autoScaling: { minAgents: 1, maxAgents: 2 },
  });
  await active(service, "parrot");
  const { sessionId, socket } = await openCall(service, "parrot");
  const { samples, sampleRateHz } = parseWav(readFileSync(SPEECH));
  const stop = speakSlowly(socket, samples, sampleRateHz);
  await until(() => socket.heardMs > 1_000 && socket.peak > 1_000, 60_000, "what was said");
  stop();
  socket.socket.close();
  assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
});

async function podsOf({ api, namespace }: TestCluster, state?: "busy" | "idle") {
  const labelSelector = state === undefined ? undefined : `vocalhost.github.io/state=${state}`;
  const { items } = await api.listNamespacedPod({ namespace, ...(labelSelector ? { labelSelector } : {}) });
  return items;
}

async function active(service: ServiceProcess, agent: string): Promise<{ digest: string | undefined }> {
  const { deployment } = await service.ready(
    agent,
    (record) => record.available && record.deployment !== undefined,
  );
  assert.ok(deployment);
  return { digest: deployment.manifest.spec.imageDigest };
}
