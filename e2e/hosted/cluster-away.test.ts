// The API server of a cluster is away, and the controller is killed: what needs no cluster goes on. A stand-in of both.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { writeBotProject } from "../../packages/drivers/src/testing/bot-project.ts";
import {
  kubeconfigOf,
  PRETENDED_NAMESPACE,
} from "../../packages/drivers/src/testing/cluster/kubernetes-harness.ts";
import { startStandInApi, type StandInApi } from "../../packages/drivers/src/testing/cluster/stand-in-api.ts";
import { startStandInKubelet } from "../../packages/drivers/src/testing/cluster/stand-in-kubelet.ts";
import { startPretendedRegistry } from "../../testing/pretended-registry.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { faultBot } from "./fault-bot.ts";
import { openCall } from "./fault-call.ts";

const AGENT = "echo";

describe("without the API server", () => {
  const stack = new AsyncDisposableStack();
  let api: StandInApi;
  let service: ServiceProcess;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "cluster-away-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    api = stack.use(await startStandInApi());
    const kubelet = stack.use(startStandInKubelet(api));
    const registry = stack.use(await startPretendedRegistry());
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(api)));
    const project = writeBotProject(
      join(folder, "bot"),
      faultBot({ truthFile: join(folder, "truth") })["bot.ts"] ?? "",
    );
    kubelet.images.get = () => project; // whatever is pulled
    service = stack.use(
      await startServiceProcess({
        environment: {
          VOCALHOST_DRIVER: "kubernetes",
          VOCALHOST_KUBERNETES_CONFIG: kubeconfig,
          VOCALHOST_KUBERNETES_NAMESPACE: PRETENDED_NAMESPACE,
          VOCALHOST_REGISTRIES: registry.host,
        },
      }),
    );
    await service.deploy({
      name: AGENT,
      image: registry.image,
      autoScaling: { minAgents: 2, maxAgents: 2 },
    });
    await until(() => readyInstances() === 2, 60_000, "two instances that wait");
  });
  after(() => stack.disposeAsync());

  const readyInstances = (): number => service.rows("SELECT id FROM instances WHERE state = 'ready'").length;

  test("a killed controller is followed: calls go on, waiting instances take more, ends are recorded and billed", async () => {
    using before = await openCall(service, { agent: AGENT });
    await until(() => before.echoed > 50, 10_000, "numbers back");
    await api.stop();
    await service.replaceController();
    using during = await openCall(service, { agent: AGENT });
    await until(
      () => during.echoed > 50 && before.echoed > 50,
      20_000,
      "numbers back without the API server",
    );
    assert.equal((await service.api.agents.get(AGENT)).ready, true);
    for (const call of [before, during]) {
      call.say("hang up");
      assert.equal(await service.sessionEnded(call.sessionId), "bot-finished");
      const { seconds } = await service.api.sessions.get(AGENT, call.sessionId);
      assert.ok(seconds !== null && seconds >= 1, `${seconds} s are on its bill`);
    }
    await api.start();
    await until(() => readyInstances() === 2, 60_000, "new instances once it is back");
    using next = await openCall(service, { agent: AGENT });
    next.say("hang up");
    assert.equal(await service.sessionEnded(next.sessionId), "bot-finished");
  });
});
