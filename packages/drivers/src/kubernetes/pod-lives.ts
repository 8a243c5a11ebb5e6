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

export interface PodLivesOptions {
  cluster: Cluster;
  names: Names;
  watched: WatchedPods;
  fence: ClusterFence;
  agents: AgentObjects;
  loading: Pick<PodLoading, "millicores">;
  settings: PodSettings;
  log: Log;
  /** The URL at which instances report how their boot goes. */
  readyEndpoint(): string | undefined;
  /** Resolves when something has changed, and after that time. */
  nextChange(timeoutMs: number): Promise<void>;
  killedMs: number | undefined;
}

const LOOK_AGAIN_MS = 500;
const KILLED_MS = 15_000; // kubelets look at their pods every second, and are busy
const RACES_MAX = 5;

/** Makes pods, ends them, and removes what is left of them. */
export class PodLives {
  readonly #options: PodLivesOptions;

  constructor(options: PodLivesOptions) {
    this.#options = options;
  }

  /** Reads the pod from the cluster. */
  async find(id: string): Promise<V1Pod | undefined> {
    const { cluster, names, watched } = this.#options;
    try {
      const pod = await cluster.ask<V1Pod>({ what: "read a pod", path: `pods/${names.pod(id)}` });
      watched.put(pod);
      return pod;
    } catch (error) {
      if (isKind(error, "missing")) return undefined;
      throw error;
    }
  }

  async make(spec: InstanceSpec): Promise<void> {
    const { names, watched, fence, log } = this.#options;
    const name = names.pod(spec.id);
    await fence.check();
    const pod = await unlessTaken(this.#post(spec));
    if (!pod) return void (await this.find(spec.id)); // another call has made it
    watched.put(pod);
    try {
      await fence.check(); // a newer leader may have listed the pods before this one was made
    } catch (error) {
      await this.#remove(pod)
        .then(() => this.#removeSecret(name))
        .catch(() => undefined);
      throw error;
    }
    log.debug({ instanceId: spec.id, pod: name }, "pod made");
  }

  /** Resolves when the pod no longer runs. */
  async end(id: string, { graceMs, isListening }: { graceMs: number; isListening: boolean }): Promise<void> {
    const { names, watched, killedMs = KILLED_MS } = this.#options;
    const found = await this.find(id);
    if (!found || readPodState(found).state === "exited") return;
    // An instance that does not listen has no session, and may not even handle signals yet. A grace of 0 would delete
    // the object immediately.
    const graceSeconds = isListening ? Math.max(1, Math.ceil(graceMs / 1_000)) : 1;
    await this.#delete(found, graceSeconds);
    const deadlineMs = performance.now() + graceSeconds * 1_000 + killedMs;
    for (;;) {
      const pod = watched.get(names.pod(id)) ?? (await this.find(id));
      if (!pod || readPodState(pod).state === "exited") return;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return this.#endOnLostNode(id);
      await this.#options.nextChange(Math.min(LOOK_AGAIN_MS, leftMs));
    }
  }

  /** Removes all that is left of a pod that has ended. */
  async forget(id: string): Promise<void> {
    const pod = await this.find(id);
    if (pod && readPodState(pod).state === "running") throw new Error(`Instance ${id} still runs`);
    if (pod) await this.#remove(pod);
    await this.#removeSecret(this.#options.names.pod(id));
  }

  /** Makes the Secret and the pod. Rejects with `taken` if the pod is there. */
  async #post(spec: InstanceSpec): Promise<V1Pod> {
    const { cluster, names, agents, loading, settings } = this.#options;
    const { reference: image, pullSecret } = requireImage(spec.source);
    const owners = await agents.ownerOf(spec.owner);
    const pullSecrets = pullSecret ? [await agents.pullSecret(pullSecret, spec.owner, owners)] : [];
    const body = secretManifest({ spec, names, owners });
    await unlessTaken(
      cluster.ask({ what: "make an instance's secret", method: "POST", path: "secrets", body }),
    );
    const post = (cpuMillicores: number): Promise<V1Pod> => {
      const readyEndpoint = this.#options.readyEndpoint();
      const common = { spec, names, owners, image, settings, pullSecrets, readyEndpoint, cpuMillicores };
      return cluster.ask<V1Pod>({
        ...{ what: "make a pod", method: "POST", path: "pods", body: podManifest(common) },
      });
    };
    const loadingMillicores = loading.millicores(spec.cpuMillicores);
    return post(loadingMillicores).catch((error: unknown) => {
      // A quota or a limit of the namespace may allow no more than the profile's limit.
      if (loadingMillicores === spec.cpuMillicores || !isKind(error, "full", "forbidden")) throw error;
      return post(spec.cpuMillicores);
    });
  }

  async #endOnLostNode(id: string): Promise<void> {
    const pod = await this.find(id);
    if (!pod || readPodState(pod).state === "exited") return;
    if (!isOnLostNode(pod)) throw new DriverUnavailableError(`The pod of instance ${id} does not end`);
    this.#options.log.warn(
      { instanceId: id, node: pod.spec?.nodeName },
      "an instance's node was lost, giving the instance up",
    );
    await this.#delete(pod, 0);
    await this.find(id);
  }

  async #delete(pod: V1Pod, gracePeriodSeconds: number): Promise<void> {
    const body = { gracePeriodSeconds, preconditions: { uid: pod.metadata?.uid } };
    const path = `pods/${pod.metadata?.name}`;
    await unlessMissing(this.#options.cluster.ask({ what: "end a pod", method: "DELETE", path, body }));
  }

  /** Takes the finalizer off a pod that has ended, and deletes it. */
  async #remove(pod: V1Pod): Promise<void> {
    const { cluster, watched } = this.#options;
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
        now = await this.find(idOf(pod)); // its node has changed it meanwhile
      }
    }
    if (now) await this.#delete(now, 0); // its node may still hold the object, though nothing of it runs
    watched.drop(pod);
  }

  async #removeSecret(name: string): Promise<void> {
    const call = { what: "remove an instance's secret", method: "DELETE", path: `secrets/${name}` } as const;
    await unlessMissing(this.#options.cluster.ask(call));
  }
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
