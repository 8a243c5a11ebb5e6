import type { V1ConfigMap, V1OwnerReference, V1Secret } from "@kubernetes/client-node";
import { createHash } from "node:crypto";
import type { InstanceOwner, PullSecret } from "../driver.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, labelValue, type Names } from "./names.ts";

/** What the instances of an agent share in the cluster, and go with. */
export interface AgentObjects {
  /** The object that owns everything of an agent; made if it is missing. */
  ownerOf(owner: InstanceOwner | undefined): Promise<V1OwnerReference[]>;
  /** The name of a Secret that opens the registry; made if it is missing. */
  pullSecret(
    secret: PullSecret,
    owner: InstanceOwner | undefined,
    owners: V1OwnerReference[],
  ): Promise<string>;
  /** Whether it was needed a moment ago. */
  isRecent(agentId: string): boolean;
  /** With all that it owns. */
  remove(agentId: string): Promise<void>;
}

const RECENT_MS = 30_000;
const DOCKER_KEY = "https://index.docker.io/v1/"; // what kubelets look for when an image is of Docker's registry

export function createAgentObjects(cluster: Cluster, names: Names): AgentObjects {
  const owners = createRecent<V1OwnerReference>();
  const pullSecrets = createRecent<string>();

  async function makeOwner({ agentId, agentName }: InstanceOwner): Promise<V1OwnerReference> {
    const name = names.agent(agentId);
    const body: V1ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name,
        labels: {
          "app.kubernetes.io/managed-by": "vocalhost",
          [labels.service]: names.service,
          [labels.kind]: "agent",
          [labels.agent]: agentId,
          [labels.agentName]: labelValue(agentName),
        },
      },
    };
    const made = await ensure<V1ConfigMap>("configmaps", name, body);
    return { apiVersion: "v1", kind: "ConfigMap", name, uid: made.metadata?.uid ?? "" };
  }

  async function makePullSecret(
    name: string,
    secret: PullSecret,
    owner: V1OwnerReference[],
  ): Promise<string> {
    const { username, token } = secret;
    const host = secret.host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
    const key = /(?:^|\.)docker\.io$/.test(host) ? DOCKER_KEY : host;
    const auth = Buffer.from(`${username}:${token}`).toString("base64");
    const body: V1Secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        labels: { [labels.service]: names.service, [labels.kind]: "pull-secret" },
        ownerReferences: owner,
      },
      immutable: true,
      type: "kubernetes.io/dockerconfigjson",
      stringData: {
        ".dockerconfigjson": JSON.stringify({ auths: { [key]: { username, password: token, auth } } }),
      },
    };
    await ensure<V1Secret>("secrets", name, body);
    return name;
  }

  async function ensure<T>(kind: "configmaps" | "secrets", name: string, body: object): Promise<T> {
    try {
      return await cluster.ask<T>({ what: `make ${kind}/${name}`, method: "POST", path: kind, body });
    } catch (error) {
      if (!isKind(error, "taken")) throw error;
      return cluster.ask<T>({ what: `read ${kind}/${name}`, path: `${kind}/${name}` });
    }
  }

  return {
    async ownerOf(owner) {
      if (!owner) return [];
      return [await owners.get(owner.agentId, () => makeOwner(owner))];
    },
    pullSecret(secret, owner, ownerReferences) {
      const text = JSON.stringify([
        names.service,
        owner?.agentId,
        secret.host,
        secret.username,
        secret.token,
      ]);
      const name = `${names.service}-pull-${createHash("sha256").update(text).digest("hex").slice(0, 20)}`;
      return pullSecrets.get(name, () => makePullSecret(name, secret, ownerReferences));
    },
    isRecent: (agentId) => owners.has(agentId),
    async remove(agentId) {
      owners.drop(agentId);
      const path = `configmaps/${names.agent(agentId)}`;
      await cluster.ask({ what: `remove ${path}`, method: "DELETE", path }).catch((error: unknown) => {
        if (!isKind(error, "missing")) throw error;
      });
    },
  };
}

/** What was made a moment ago is still there; of what is older, somebody may have thought otherwise. */
function createRecent<T>() {
  const known = new Map<string, { made: Promise<T>; atMs: number }>();
  const find = (key: string): Promise<T> | undefined => {
    const found = known.get(key);
    return found && performance.now() - found.atMs < RECENT_MS ? found.made : undefined;
  };
  return {
    has: (key: string): boolean => find(key) !== undefined,
    drop: (key: string) => void known.delete(key),
    async get(key: string, make: () => Promise<T>): Promise<T> {
      const found = find(key);
      if (found) return found;
      const made = make();
      known.set(key, { made, atMs: performance.now() });
      return made.catch((error: unknown) => {
        if (known.get(key)?.made === made) known.delete(key);
        throw error;
      });
    },
  };
}
