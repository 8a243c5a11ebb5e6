import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { randomUUID } from "node:crypto";
import { startPretendedCluster, type PretendedCluster } from "./cluster.ts";

const NODES = 20;
const AT_ONCE = 20;
const OURS = "vocalhost-bench";

/**
 * Pods of the cluster that `KUBECONFIG` names, on nodes that kwok pretends. Its nodes give out loopback addresses, so that
 * whatever asks a pod reaches a pretended instance on this machine.
 */
export async function startKwokCluster(): Promise<PretendedCluster> {
  await using stack = new AsyncDisposableStack();
  const config = new KubeConfig();
  config.loadFromDefault();
  const api = config.makeApiClient(CoreV1Api);
  await requireKwok(api);
  const run = randomUUID().slice(0, 8);
  const namespace = `${OURS}-${run}`;
  await api.createNamespace({ body: { metadata: { name: namespace } } });
  stack.defer(() => removeNamespace(api, namespace));
  for (let node = 0; node < NODES; node++) {
    const name = `${namespace}-${node}`;
    const podCIDR = `127.${220 + (process.pid % 30)}.${node}.0/24`;
    await api.createNode({
      body: {
        metadata: { name, labels: { type: "kwok", [OURS]: run } },
        spec: { podCIDR, podCIDRs: [podCIDR] },
      },
    });
    stack.defer(async () => void (await api.deleteNode({ name })));
  }
  const cluster = stack.use(
    await startPretendedCluster({ file: "bench/hosted/pretended/kwok-main.ts", namespace }),
  );
  const owned = stack.move();
  return {
    ...cluster,
    environment: { ...cluster.environment, VOCALHOST_KUBERNETES_NODE_SELECTOR: `${OURS}=${run}` },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function requireKwok(api: CoreV1Api): Promise<void> {
  const { items } = await api.listNode({ labelSelector: "type=kwok" });
  if (items.length === 0)
    throw new Error("KUBECONFIG names no cluster with nodes that kwok pretends (type=kwok)");
}

/** No kubelet is left that would release the pods. */
async function removeNamespace(api: CoreV1Api, namespace: string): Promise<void> {
  const { items } = await api.listNamespacedPod({ namespace });
  const names = items.map(({ metadata }) => metadata?.name ?? "");
  const body = [{ op: "remove", path: "/metadata/finalizers" }];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop())
        await api.patchNamespacedPod({ name, namespace, body }).catch(() => undefined); // it is gone
    }),
  );
  await api.deleteNamespace({ name: namespace });
}
