import type { V1ConfigMapList, V1ObjectMeta, V1Pod, V1SecretList } from "@kubernetes/client-node";
import type { AgentObjects } from "./agent-objects.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, type Names } from "./names.ts";

const YOUNG_MS = 600_000; // its pod may be under way

/** Removes Secrets of pods that were never made, and owner objects of agents without instances. Returns their number. */
export async function prune(
  { cluster, names, agents }: { cluster: Cluster; names: Names; agents: AgentObjects },
  pods: ReadonlyMap<string, V1Pod>,
): Promise<number> {
  const living = new Set([...pods.values()].map(({ metadata }) => metadata?.labels?.[labels.agent] ?? ""));
  const isOld = ({ creationTimestamp }: V1ObjectMeta): boolean =>
    Date.now() - new Date(creationTimestamp ?? Date.now()).getTime() > YOUNG_MS;
  const list = <T>(path: string, kind: string): Promise<T> =>
    cluster.ask<T>({ what: `list ${path}`, path, query: { labelSelector: names.selector(kind) } });
  const secrets = (await list<V1SecretList>("secrets", "instance")).items.flatMap(({ metadata }) =>
    metadata && isOld(metadata) && !pods.has(metadata.name ?? "") ? [`secrets/${metadata.name}`] : [],
  );
  const owners = (await list<V1ConfigMapList>("configmaps", "agent")).items.flatMap(({ metadata }) => {
    const agentId = metadata?.labels?.[labels.agent] ?? "";
    const isNeeded = living.has(agentId) || agents.isRecent(agentId);
    return metadata && isOld(metadata) && !isNeeded ? [`configmaps/${metadata.name}`] : [];
  });
  for (const path of [...secrets, ...owners])
    await cluster.ask({ what: `remove ${path}`, method: "DELETE", path }).catch((error: unknown) => {
      if (!isKind(error, "missing")) throw error;
    });
  return secrets.length + owners.length;
}
