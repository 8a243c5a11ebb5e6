// The chart with one pod: a value that keeps it from becoming ready takes it down, a rollback brings it back.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeServiceImage } from "../../testing/service-image.ts";
import { until } from "../../testing/wait.ts";
import { readTestCluster } from "./config.ts";
import { helmIsMissing, runHelm } from "./release.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const NAME = "one";
const POD = `${NAME}-0`;
const { authority } = readTestCluster();

describe("the chart with one pod", { skip: helmIsMissing() ?? false }, () => {
  const stack = new AsyncDisposableStack();
  let cluster: TestCluster;
  let image: string;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "chart-rollback-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    cluster = stack.use(await openTestCluster());
    const service = await makeServiceImage({ folder, authority });
    image = await cluster.pushImage(service, { name: `service-${cluster.namespace}`, tag: "1" });
  });
  after(() => stack.disposeAsync());

  async function pod() {
    const { api, namespace } = cluster;
    const found = await api.readNamespacedPod({ namespace, name: POD }).catch(() => undefined);
    const isReady = found?.status?.conditions?.some(
      ({ type, status }) => type === "Ready" && status === "True",
    );
    return { uid: found?.metadata?.uid, isReady: isReady === true };
  }

  test("a wrong value takes it down, and a rollback brings it back", async () => {
    const helm = (...args: string[]): Promise<unknown> => runHelm(cluster, args);
    const values = [
      ...[
        "--set=publicUrl=http://bots.test:7870",
        "--set-string=image.tag=1",
        `--set=image.repository=${image}`,
      ],
      ...["--set=data.persistent=false", '--set-json=resources={"requests":{"cpu":"50m","memory":"128Mi"}}'],
    ];
    await helm("install", NAME, ...values, "--wait", "--timeout=5m");
    const { uid: first } = await pod();
    await helm("upgrade", NAME, ...values, "--set=settings.VOCALHOST_VIVA_ENGINE=/nowhere");
    const broken = await until(
      async () => {
        const { uid, isReady } = await pod();
        return uid !== undefined && uid !== first && !isReady && uid;
      },
      120_000,
      "pod with the wrong value",
    );
    await helm("rollback", NAME);
    await until(
      async () => {
        const { uid, isReady } = await pod();
        return uid !== broken && isReady;
      },
      120_000,
      "ready pod with the former values",
    );
    await helm("uninstall", NAME);
    const isGone = async (): Promise<boolean> => (await pod()).uid === undefined;
    await until(isGone, 60_000, "end of the pod, for which Helm does not wait");
    await assert.rejects(
      helm("install", NAME, ...values, "--set=settings.VOCALHOST_LOG_LEVEL=loud"),
      /VOCALHOST_LOG_LEVEL/,
    );
  });
});
