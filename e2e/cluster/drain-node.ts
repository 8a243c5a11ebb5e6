import { setHeaderOptions } from "@kubernetes/client-node";
import { setTimeout as pause } from "node:timers/promises";
import { patientMs } from "../../testing/patience.ts";
import type { TestCluster } from "./test-cluster.ts";

/** As `kubectl drain` does it, of the pods of the test's namespace alone. */
export interface Drain {
  /** Evictions that were refused so far. */
  readonly refused: number;
  /** Resolves when none of them is on the node any more. */
  done(): Promise<void>;
}

const AGAIN_MS = 1_000;
const DRAINED_MS = 60_000;
const MERGE = "application/merge-patch+json";

export function drainNode(cluster: TestCluster, node: string): Drain {
  let refused = 0;
  const drained = drain(cluster, node, () => (refused += 1));
  drained.catch(() => undefined); // the caller awaits it
  return {
    get refused() {
      return refused;
    },
    done: () => drained,
  };
}

export function uncordonNode(cluster: TestCluster, node: string): Promise<void> {
  return cordon(cluster, node, false);
}

async function drain(cluster: TestCluster, node: string, onRefused: () => void): Promise<void> {
  const { api, namespace } = cluster;
  await cordon(cluster, node, true);
  const deadlineMs = performance.now() + patientMs(DRAINED_MS);
  for (;;) {
    const { items } = await api.listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${node}` });
    if (items.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new Error(`Still on the node: ${items.map(({ metadata }) => metadata?.name).join(", ")}`);
    for (const { metadata } of items) {
      if (metadata?.deletionTimestamp !== undefined) continue;
      const name = metadata?.name ?? "";
      await api
        .createNamespacedPodEviction({ namespace, name, body: { metadata: { name } } })
        .catch((error: { code?: number }) => {
          if (error.code === 429) onRefused();
          else if (error.code !== 404) throw error;
        });
    }
    await pause(AGAIN_MS);
  }
}

async function cordon({ api }: TestCluster, name: string, unschedulable: boolean): Promise<void> {
  await api.patchNode({ name, body: { spec: { unschedulable } } }, setHeaderOptions("Content-Type", MERGE));
}
