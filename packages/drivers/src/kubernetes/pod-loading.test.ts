import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { until } from "../../../../testing/wait.ts";
import { PRETENDED, startKubernetesHarness as start } from "../testing/cluster/kubernetes-harness.ts";
import { specOf } from "../testing/driver-contract.ts";
import type { InstanceSpec } from "../driver.ts";

const WAITING_BOT = `export const bot = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));`;
const POD = { cpuMillicores: 500, memoryMib: 512 };

test("a pod loads with more processor time than is its own, and has its own when it listens", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const [pretended, real] = [specOf(PRETENDED, POD), specOf(await harness.source(WAITING_BOT), POD)];
  for (const spec of [pretended, real]) await driver.create(spec);
  const cpuOf = (spec: InstanceSpec): unknown => harness.pod(spec)["spec"].containers[0].resources;
  const [requests, limits] = [
    { cpu: "250m", memory: "512Mi" },
    { cpu: "2000m", memory: "512Mi" },
  ];
  assert.deepEqual(cpuOf(pretended), { requests, limits });
  await until(
    async () => (await driver.list()).some(({ id, address }) => id === real.id && address !== undefined),
    10_000,
    "instance that listens",
  );
  const own = { requests, limits: { ...limits, cpu: "500m" } };
  await until(() => isDeepStrictEqual(cpuOf(real), own), 10_000, "limit of the profile");
  assert.deepEqual(cpuOf(pretended), { requests, limits }, "one that still loads keeps it");
  harness.api.change("pods", `vocalhost-${pretended.id}`, ({ metadata }) => {
    metadata.creationTimestamp = new Date(Date.now() - 60_000);
  });
  await until(
    async () => (await driver.list()).length === 2 && isDeepStrictEqual(cpuOf(pretended), own),
    10_000,
    "limit of one that loads for too long",
  );
  const before = harness.api.requests.length;
  await driver.list();
  assert.equal(harness.api.requests.length, before, "what is settled costs no calls");
  await driver.destroy(real.id, { graceMs: 1_000 });
});

for (const resizing of ["forbidden", "unknown"] as const)
  test(`a pod loads at its profile's pace where resizing is ${resizing}`, async () => {
    await using harness = await start({ resizing });
    const { driver } = await harness.open();
    await driver.fence(1);
    const spec = specOf(PRETENDED, POD);
    await driver.create(spec);
    assert.equal(harness.pod(spec)["spec"].containers[0].resources.limits.cpu, "500m");
    await driver.list();
    assert.equal(harness.api.requests.filter((line) => line.endsWith("/resize")).length, 0);
  });

test("a pod loads at its profile's pace where the namespace lets it have no more", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  for (const message of [
    'pods "x" is forbidden: exceeded quota: bots',
    'pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
  ]) {
    const status = { kind: "Status", code: 403, reason: "Forbidden", message };
    harness.api.refuseNext(/^POST .*\/pods$/, { code: 403, status });
    const spec = specOf(PRETENDED, POD);
    await driver.create(spec);
    assert.equal(harness.pod(spec)["spec"].containers[0].resources.limits.cpu, "500m");
  }
});
