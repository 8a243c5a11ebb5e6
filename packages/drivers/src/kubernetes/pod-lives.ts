import type { V1Pod } from "@kubernetes/client-node";
import type { Log } from "@vocalhost/base/log";
import { DriverUnavailableError, type InstanceSource, type InstanceSpec } from "../driver.ts";
import type { AgentObjects } from "./agent-objects.ts";
import { isKind } from "./cluster-error.ts";
import type { ClusterFence } from "./cluster-fence.ts";
import type { Cluster } from "./cluster.ts";
import { FINALIZER, labels, type Names } from "./names.ts";
import type { PodLoading } from "./pod-loading.ts";
import { podManifest, secretManifest, type PodSettings } from "./pod-manifest.ts";
import { isOnLostNode, readPodState } from "./pod-state.ts";
import type { WatchedPods } from "./watched-pods.ts";

/** Makes pods, ends them and lets go of them. */
export interface PodLives {
  /** As the cluster has it at this moment. */
  find(id: string): Promise<V1Pod | undefined>;
  make(spec: InstanceSpec): Promise<void>;
  /** Resolves when it no longer runs. */
  end(id: string, options: { graceMs: number; isListening: boolean }): Promise<void>;
  /** Removes all that is left of one that has ended. */
  forget(id: string): Promise<void>;
}

export interface PodLivesOptions {
  cluster: Cluster;
  names: Names;
  watched: WatchedPods;
  fence: ClusterFence;
  agents: AgentObjects;
  loading: Pick<PodLoading, "millicores">;
  settings: PodSettings;
  log: Log;
  /** Where instances say that they listen. */
  readyEndpoint(): string | undefined;
  /** Resolves when something has changed, and after that time. */
  nextChange(timeoutMs: number): Promise<void>;
  killedMs: number | undefined;
}

const LOOK_AGAIN_MS = 500;
const KILLED_MS = 15_000; // kubelets look at their pods every second, and are busy
const RACES_MAX = 5;

export function createPodLives(options: PodLivesOptions): PodLives {
  const { cluster, names, watched, fence, agents, log, nextChange } = options;

  async function find(id: string): Promise<V1Pod | undefined> {
    try {
      const pod = await cluster.ask<V1Pod>({ what: "read a pod", path: `pods/${names.pod(id)}` });
      watched.put(pod);
      return pod;
    } catch (error) {
      if (isKind(error, "missing")) return undefined;
      throw error;
    }
  }

  async function make(spec: InstanceSpec): Promise<void> {
    const name = names.pod(spec.id);
    const { reference: image, pullSecret } = requireImage(spec.source);
    await fence.check();
    const owners = await agents.ownerOf(spec.owner);
    const pullSecrets = pullSecret ? [await agents.pullSecret(pullSecret, spec.owner, owners)] : [];
    const common = { spec, names, owners };
    await unlessTaken(
      cluster.ask({
        what: "make an instance's secret",
        method: "POST",
        path: "secrets",
        body: secretManifest(common),
      }),
    );
    const post = (cpuMillicores: number): Promise<V1Pod> => {
      const [settings, readyEndpoint] = [options.settings, options.readyEndpoint()];
      const body = podManifest({ ...common, image, settings, pullSecrets, readyEndpoint, cpuMillicores });
      return cluster.ask<V1Pod>({ what: "make a pod", method: "POST", path: "pods", body });
    };
    const loadingMillicores = options.loading.millicores(spec.cpuMillicores);
    const pod = await unlessTaken(
      post(loadingMillicores).catch((error: unknown) => {
        // A quota or a limit of the namespace may leave no room for more than the profile says.
        if (loadingMillicores === spec.cpuMillicores || !isKind(error, "full", "forbidden")) throw error;
        return post(spec.cpuMillicores);
      }),
    );
    if (!pod) return void (await find(spec.id)); // it is there, running or over
    watched.put(pod);
    try {
      await fence.check(); // a newer leader may have come while we were at it, and may not have seen this one
    } catch (error) {
      await remove(pod)
        .then(() => removeSecret(name))
        .catch(() => undefined);
      throw error;
    }
    log.debug({ instanceId: spec.id, pod: name }, "pod made");
  }

  async function end(
    id: string,
    { graceMs, isListening }: { graceMs: number; isListening: boolean },
  ): Promise<void> {
    const found = await find(id);
    if (!found || readPodState(found).state === "exited") return;
    // Without an address it has no session, and may not even listen to signals yet. None at all would mean not to wait.
    const graceSeconds = isListening ? Math.max(1, Math.ceil(graceMs / 1_000)) : 1;
    await ask(found, graceSeconds);
    const deadlineMs = performance.now() + graceSeconds * 1_000 + (options.killedMs ?? KILLED_MS);
    for (;;) {
      const pod = watched.get(names.pod(id)) ?? (await find(id));
      if (!pod || readPodState(pod).state === "exited") return;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return endOnLostNode(id);
      await nextChange(Math.min(LOOK_AGAIN_MS, leftMs));
    }
  }

  async function endOnLostNode(id: string): Promise<void> {
    const pod = await find(id);
    if (!pod || readPodState(pod).state === "exited") return;
    if (!isOnLostNode(pod)) throw new DriverUnavailableError(`The pod of instance ${id} does not end`);
    log.warn(
      { instanceId: id, node: pod.spec?.nodeName },
      "an instance's node was lost, giving the instance up",
    );
    await ask(pod, 0);
    await find(id);
  }

  async function ask(pod: V1Pod, gracePeriodSeconds: number): Promise<void> {
    const body = { gracePeriodSeconds, preconditions: { uid: pod.metadata?.uid } };
    const path = `pods/${pod.metadata?.name}`;
    await unlessMissing(cluster.ask({ what: "end a pod", method: "DELETE", path, body }));
  }

  /** What is left of one that has ended. */
  async function remove(pod: V1Pod): Promise<void> {
    const name = pod.metadata?.name ?? "";
    let now: V1Pod | undefined = pod;
    for (let races = 0; now; races++) {
      const { finalizers = [], resourceVersion, uid } = now.metadata ?? {};
      const metadata = { uid, resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER) };
      try {
        if (finalizers.includes(FINALIZER))
          await cluster.ask({
            ...{ what: "let a pod go", method: "PATCH", path: `pods/${name}`, body: { metadata } },
            contentType: "application/merge-patch+json",
          });
        break;
      } catch (error) {
        if (isKind(error, "missing")) break;
        if (!isKind(error, "conflict") || races === RACES_MAX) throw error;
        now = await find(idOf(pod)); // its node has changed it meanwhile
      }
    }
    if (now) await ask(now, 0); // its node may not have let go of it yet, though nothing of it runs
    watched.drop(pod);
  }

  function removeSecret(name: string): Promise<unknown> {
    const call = { what: "remove an instance's secret", method: "DELETE", path: `secrets/${name}` } as const;
    return unlessMissing(cluster.ask(call));
  }

  return {
    find,
    make,
    end,
    async forget(id) {
      const pod = await find(id);
      if (pod && readPodState(pod).state === "running") throw new Error(`Instance ${id} still runs`);
      if (pod) await remove(pod);
      await removeSecret(names.pod(id));
    },
  };
}

export function idOf(pod: V1Pod): string {
  return pod.metadata?.labels?.[labels.instance] ?? "";
}

export function requireImage(source: InstanceSource): InstanceSource & { kind: "image" } {
  if (source.kind === "image") return source;
  throw new Error("Pods run images; this deployment is the folder of a build");
}

async function unlessTaken<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isKind(error, "taken")) return undefined;
    throw error;
  });
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isKind(error, "missing")) return undefined;
    throw error;
  });
}
