// The drivers' contract on a real cluster, and what only a real one does.
import { resolveImage, thisPlatform } from "@vocalhost/images";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { InstanceSource, OpenedDriver } from "../../packages/drivers/src/driver.ts";
import { openKubernetesDriver } from "../../packages/drivers/src/kubernetes.ts";
import { silentLog } from "../../packages/base/src/log.ts";
import {
  driverContract,
  exited,
  listening,
  specOf,
  type DriverHarness,
} from "../../packages/drivers/src/testing/driver-contract.ts";
import { until } from "../../testing/wait.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

let cluster: TestCluster;
before(async () => {
  cluster = await openTestCluster();
});
after(() => cluster[Symbol.asyncDispose]());

driverContract("kubernetes", start);

const WAITING_BOT = `export const bot = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));`;

test("an image that is in no registry is told from one that may not be had", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const { reference } = await harness.source(WAITING_BOT);
  const spec = specOf({
    kind: "image",
    reference: reference.replace(/@sha256:.*/, `@sha256:${"0".repeat(64)}`),
    pullSecret: undefined,
  });
  await driver.create(spec);
  const { exit } = await exited(driver);
  assert.match(exit?.how ?? "", /^Its image could not be pulled: it is not in its registry/);
});

test("one that needs more than there is waits, and says so", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const spec = specOf(await harness.source(WAITING_BOT), { cpuMillicores: 10_000_000 });
  await driver.create(spec);
  const waiting = await until(
    async () => (await driver.list()).find(({ waitsFor }) => waitsFor !== undefined),
    20_000,
    "reason",
  );
  assert.match(waiting.waitsFor ?? "", /^There is no room for it in the cluster\..*Insufficient cpu/);
  await driver.destroy(spec.id, { graceMs: 0 });
});

test("a pod loads with more than its profile says, and has its own when it listens, without a new start", async (context) => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const spec = specOf(await harness.source(WAITING_BOT), { cpuMillicores: 500 });
  await driver.create(spec);
  const pod = () => cluster.api.readNamespacedPod({ namespace: cluster.namespace, name: `check-${spec.id}` });
  if ((await pod()).spec?.containers[0]?.resources?.limits?.["cpu"] === "500m")
    context.skip("this cluster resizes no pods that run");
  else {
    await listening(driver, spec.id);
    const resized = await until(
      async () => {
        await driver.list();
        const [status] = (await pod()).status?.containerStatuses ?? [];
        return status?.resources?.limits?.["cpu"] === "500m" && status;
      },
      30_000,
      "limit of its profile",
    );
    assert.equal(resized.restartCount, 0);
    assert.equal(resized.started, true);
  }
  await driver.destroy(spec.id, { graceMs: 0 });
});

test("a pod with a call is not evicted, one without is, and both say so", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  await driver.fence(1);
  const source = await harness.source(WAITING_BOT);
  const [busy, idle] = [specOf(source), specOf(source)];
  for (const spec of [busy, idle]) await driver.create(spec);
  for (const spec of [busy, idle]) await listening(driver, spec.id);
  driver.inUse?.(new Set([busy.id]));
  const evict = async ({ id }: { id: string }): Promise<number> => {
    const name = `check-${id}`;
    const body = { metadata: { name } };
    const asked = cluster.api.createNamespacedPodEviction({ namespace: cluster.namespace, name, body });
    return asked.then(
      () => 201,
      (error: { code?: number }) => error.code ?? 0,
    );
  };
  // Pods say that they are ready before their kubelet says that they run, and until it does a cluster evicts them without a question.
  const isProtected = async (): Promise<boolean> => {
    const { items } = await cluster.api.listNamespacedPod({
      namespace: cluster.namespace,
      labelSelector: "vocalhost.github.io/state=busy",
    });
    return items.some(({ status }) => status?.phase === "Running");
  };
  await until(isProtected, 20_000, "label on a running pod");
  assert.equal(await evict(busy), 429);
  assert.equal(await evict(idle), 201);
  const gone = await until(
    async () => (await driver.list()).find(({ id, state }) => id === idle.id && state === "exited"),
    60_000,
    "end",
  );
  assert.match(gone.exit?.how ?? "", /its node is being emptied/);
  assert.equal(gone.exit?.isForeign, true);
  assert.equal((await driver.list()).find(({ id }) => id === busy.id)?.state, "running");
});

interface ClusterHarness extends DriverHarness {
  source(bot: string): Promise<InstanceSource & { kind: "image" }>;
}

async function start(): Promise<ClusterHarness> {
  const folder = mkdtempSync(join(tmpdir(), "cluster-driver-"));
  const opened = new AsyncDisposableStack();
  const open = async (): Promise<OpenedDriver> =>
    opened.use(
      await openKubernetesDriver({
        folder,
        cluster: { kubeconfig: cluster.kubeconfig },
        service: "check",
        platform: thisPlatform(),
        pods: { nodeSelector: {}, runtimeClass: undefined, priorityClass: undefined, pullSecrets: [] },
        readyEndpoint: cluster.machine === undefined ? undefined : { host: cluster.machine, port: 0 },
        log: silentLog,
      }),
    );
  return {
    open,
    async source(bot) {
      const { pinned } = await resolveImage(await cluster.push(bot), { platform: thisPlatform() });
      return { kind: "image", reference: pinned, pullSecret: undefined };
    },
    async [Symbol.asyncDispose]() {
      const { driver } = await open();
      await driver.fence(1e9);
      await Promise.all(
        (await driver.list()).map(async ({ id }) => {
          await driver.destroy(id, { graceMs: 0 });
          await driver.forget(id);
        }),
      );
      await cluster.api.deleteCollectionNamespacedConfigMap({ namespace: cluster.namespace });
      await opened.disposeAsync();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
