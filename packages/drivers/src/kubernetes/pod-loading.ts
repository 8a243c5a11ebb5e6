import type { V1Pod } from "@kubernetes/client-node";
import type { Log } from "@vocalhost/base/log";
import { LOADING_MAX_MS, LOADING_MILLICORES } from "../loading.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { CONTAINER, OWN_MILLICORES } from "./names.ts";

export interface PodLoadingOptions {
  cluster: Cluster;
  log: Log;
  changed(pod: V1Pod): void;
}

const AT_ONCE = 16;

/** Starts pods with more processor time than their profile has, where the cluster can resize them while they run. */
export class PodLoading {
  readonly #options: PodLoadingOptions;
  readonly #resizing = new Set<string>();
  #canResize = false;

  constructor(options: PodLoadingOptions) {
    this.#options = options;
  }

  /** Asks the cluster whether it resizes pods and whether the service may. Before that no pod starts with more. */
  async prepare(): Promise<void> {
    const { log } = this.#options;
    this.#canResize = false;
    try {
      const isOffered = await this.#isOffered();
      this.#canResize = isOffered && (await this.#isAllowed());
      if (!isOffered)
        log.info(
          {},
          "this cluster resizes no running pods, so pods load with the CPU limit of their profile",
        );
      else if (!this.#canResize)
        log.warn({}, "pods load with the CPU limit of their profile: the service may not patch pods/resize");
    } catch (error) {
      log.warn(
        { err: error },
        "pods load with the CPU limit of their profile: the cluster did not say whether it resizes pods",
      );
    }
  }

  /** Returns the CPU limit that a pod starts with. */
  millicores(ofProfile: number): number {
    return this.#canResize ? Math.max(LOADING_MILLICORES, ofProfile) : ofProfile;
  }

  /** Gives pods that have loaded the limit of their profile, a few at a time. */
  settle(pods: Iterable<V1Pod>, hasLoaded: (pod: V1Pod) => boolean): void {
    for (const pod of pods) {
      const { name = "", annotations, deletionTimestamp } = pod.metadata ?? {};
      const own = annotations?.[OWN_MILLICORES];
      if (own === undefined || deletionTimestamp !== undefined || limitOf(pod) === Number(own)) continue;
      if (!hasLoaded(pod) && !isOld(pod)) continue;
      if (this.#resizing.has(name) || this.#resizing.size >= AT_ONCE) continue; // the next call resizes it
      this.#resizing.add(name);
      void this.#resize(name, own)
        .catch((error: unknown) => {
          if (!isKind(error, "missing"))
            this.#options.log.warn(
              { err: error, pod: name },
              "a pod keeps the CPU limit that it loaded with",
            );
        })
        .finally(() => this.#resizing.delete(name));
    }
  }

  async #isOffered(): Promise<boolean> {
    const call = { what: "say what it can do", path: "", isOfServer: true };
    const { resources } = await this.#options.cluster.ask<{ resources?: { name?: string }[] }>(call);
    return resources?.some(({ name }) => name === "pods/resize") ?? false;
  }

  async #isAllowed(): Promise<boolean> {
    const { cluster } = this.#options;
    const resourceAttributes = {
      ...{ namespace: cluster.namespace, verb: "patch", resource: "pods", subresource: "resize" },
    };
    const { status } = await cluster.ask<{ status?: { allowed?: boolean } }>({
      what: "say what we may do",
      method: "POST",
      group: "authorization.k8s.io/v1",
      path: "selfsubjectaccessreviews",
      isOfServer: true,
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      },
    });
    return status?.allowed ?? false;
  }

  async #resize(name: string, millicores: string): Promise<void> {
    const containers = [{ name: CONTAINER, resources: { limits: { cpu: `${millicores}m` } } }];
    const pod = await this.#options.cluster.ask<V1Pod>({
      what: "resize a pod",
      method: "PATCH",
      path: `pods/${name}/resize`,
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { containers } },
    });
    this.#options.changed(pod);
  }
}

function isOld({ metadata }: V1Pod): boolean {
  const { creationTimestamp } = metadata ?? {};
  return (
    creationTimestamp !== undefined && Date.now() - Date.parse(String(creationTimestamp)) > LOADING_MAX_MS
  );
}

/** In millicores; API servers write whole cores without the unit. */
function limitOf({ spec }: V1Pod): number | undefined {
  const cpu = spec?.containers[0]?.resources?.limits?.["cpu"];
  const [, number, unit] = /^(\d+)(m?)$/.exec(cpu ?? "") ?? [];
  if (number === undefined) return undefined;
  return unit === "m" ? Number(number) : Number(number) * 1_000;
}
