/** Names that must be the same for every controller of a service. */
export const labels = {
  /** The name of the service, because several may share a namespace. */
  service: "vocalhost.github.io/service",
  /** `instance`, `agent`, `fence`, `pull-secret`. */
  kind: "vocalhost.github.io/kind",
  instance: "vocalhost.github.io/instance",
  agent: "vocalhost.github.io/agent",
  agentName: "vocalhost.github.io/agent-name",
  deployment: "vocalhost.github.io/deployment",
  /** `idle` or `busy`. */
  state: "vocalhost.github.io/state",
} as const;

/** Keeps the object of an ended pod until the service has read it. */
export const FINALIZER = "vocalhost.github.io/records";
/** Read by the cluster autoscaler. */
export const SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict";
/** The CPU limit of the profile, on a pod that loads with more. */
export const OWN_MILLICORES = "vocalhost.github.io/cpu-millicores";
export const CONTAINER = "bot";

export type PodUse = "idle" | "busy";

export interface Names {
  service: string;
  /** Throws if the id cannot be part of a name. */
  pod(instanceId: string): string;
  agent(agentId: string): string;
  fence: string;
  budget: string;
  /** Selects the pods of the service. */
  pods: string;
  selector(kind: string): string;
}

const NAME_MAX = 63; // also what a label may have

export function createNames(service: string): Names {
  const name = (text: string): string => {
    if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text) && text.length <= NAME_MAX) return text;
    throw new TypeError(`Not an instance id: ${JSON.stringify(text.slice(service.length + 1))}`);
  };
  const selector = (kind: string): string => `${labels.service}=${service},${labels.kind}=${kind}`;
  return {
    service,
    pod: (id) => name(`${service}-${id}`),
    agent: (id) => name(`${service}-agent-${id}`),
    fence: `${service}-fence`,
    budget: `${service}-busy`,
    pods: selector("instance"),
    selector,
  };
}

/** Cuts a text down to what a label may hold. */
export function labelValue(text: string): string {
  return text
    .replace(/[^\w.-]/g, "-")
    .slice(0, NAME_MAX)
    .replace(/^[^a-zA-Z0-9]+|[^a-zA-Z0-9]+$/g, "");
}
