import { until } from "../../testing/wait.ts";
import type { TestCluster } from "./test-cluster.ts";

/** What a service's store says. */
export interface Books {
  /** Instances that are neither stopped nor lost. */
  liveInstances(): Promise<string[]> | string[];
  /** Of sessions that are not over, with the instances they are on. */
  openSessions(): Promise<OpenSession[]> | OpenSession[];
}

export interface OpenSession {
  id: string;
  instanceId: string | null;
}

const INSTANCE = "vocalhost.github.io/instance";
const CONVERGED_MS = 60_000;

/** Resolves when cluster and store say the same: no pod without a record, no record without a pod, no secret of neither. */
export async function nothingIsOrphaned(cluster: TestCluster, books: Books): Promise<void> {
  let left: string[] = [];
  await until(
    async () => (left = await orphans(cluster, books)).length === 0,
    CONVERGED_MS,
    "convergence",
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${left.join("; ")}`, { cause: error });
  });
}

async function orphans({ api, namespace }: TestCluster, books: Books): Promise<string[]> {
  const [{ items: pods }, { items: secrets }] = await Promise.all([
    api.listNamespacedPod({ namespace, labelSelector: INSTANCE }),
    api.listNamespacedSecret({ namespace, labelSelector: INSTANCE }),
  ]);
  const live = new Set(await books.liveInstances());
  const ids = new Set(pods.flatMap(({ metadata }) => metadata?.labels?.[INSTANCE] ?? []));
  const sessions = await books.openSessions();
  return [
    ...[...ids].filter((id) => !live.has(id)).map((id) => `the pod of ${id} is nobody's`),
    ...[...live].filter((id) => !ids.has(id)).map((id) => `instance ${id} has no pod`),
    ...secrets
      .flatMap(({ metadata }) => metadata?.labels?.[INSTANCE] ?? [])
      .filter((id) => !ids.has(id))
      .map((id) => `the secret of ${id} is nobody's`),
    ...sessions
      .filter(({ instanceId }) => instanceId !== null && !live.has(instanceId))
      .map(({ id }) => `session ${id} has no instance`),
  ];
}
