import type { V1Pod } from "@kubernetes/client-node";
import type { Log } from "@vocalhost/base/log";
import { LOADING_MAX_MS, LOADING_MILLICORES } from "../loading.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { CONTAINER, OWN_MILLICORES } from "./names.ts";

/** Pods load with more processor time than is theirs, if the cluster can take it back while they run. */
export interface PodLoading {
  /** Asks the cluster whether it can, and whether we may. Until then nobody gets more. */
  prepare(): Promise<void>;
  /** What a pod of this profile starts with. */
  millicores(ofProfile: number): number;
  /** Gives those that have loaded what is theirs, a few at a time. */
  settle(pods: Iterable<V1Pod>, hasLoaded: (pod: V1Pod) => boolean): void;
}

export interface PodLoadingOptions {
  cluster: Cluster;
  log: Log;
  changed(pod: V1Pod): void;
}

const AT_ONCE = 16;

export function createPodLoading({ cluster, log, changed }: PodLoadingOptions): PodLoading {
  const changing = new Set<string>();
  let canResize = false;

  async function isOffered(): Promise<boolean> {
    const call = { what: "say what it can do", path: "", isOfServer: true };
    const { resources } = await cluster.ask<{ resources?: { name?: string }[] }>(call);
    return resources?.some(({ name }) => name === "pods/resize") ?? false;
  }

  async function isAllowed(): Promise<boolean> {
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

  async function resize(name: string, millicores: string): Promise<void> {
    const containers = [{ name: CONTAINER, resources: { limits: { cpu: `${millicores}m` } } }];
    const pod = await cluster.ask<V1Pod>({
      what: "resize a pod",
      method: "PATCH",
      path: `pods/${name}/resize`,
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { containers } },
    });
    changed(pod);
  }

  return {
    async prepare() {
      try {
        canResize = await isOffered();
        if (!canResize)
          log.info({}, "this cluster resizes no running pods, so pods load at their profile's pace");
        else if (!(await isAllowed())) {
          canResize = false;
          log.warn({}, "pods load at their profile's pace: we may not patch pods/resize in our namespace");
        }
      } catch (error) {
        canResize = false;
        log.warn({ err: error }, "pods load at their profile's pace: the cluster did not say what we may do");
      }
    },
    millicores: (ofProfile) => (canResize ? Math.max(LOADING_MILLICORES, ofProfile) : ofProfile),
    settle(pods, hasLoaded) {
      for (const pod of pods) {
        const { name = "", annotations, deletionTimestamp } = pod.metadata ?? {};
        const own = annotations?.[OWN_MILLICORES];
        if (own === undefined || deletionTimestamp !== undefined || limitOf(pod) === Number(own)) continue;
        if (!hasLoaded(pod) && !isOld(pod)) continue;
        if (changing.has(name) || changing.size >= AT_ONCE) continue; // the next look sees to it
        changing.add(name);
        void resize(name, own)
          .catch((error: unknown) => {
            if (!isKind(error, "missing"))
              log.warn({ err: error, pod: name }, "a pod keeps the processor time it had for loading");
          })
          .finally(() => changing.delete(name));
      }
    },
  };
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
