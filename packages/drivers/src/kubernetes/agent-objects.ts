import type { V1ConfigMap, V1OwnerReference, V1Secret } from "@kubernetes/client-node";
import { createHash } from "node:crypto";
import type { InstanceOwner, PullSecret } from "../driver.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, labelValue, type Names } from "./names.ts";

const RECENT_MS = 30_000;
const DOCKER_KEY = "https://index.docker.io/v1/"; // what kubelets look for when an image is of Docker's registry

/** The objects in the cluster that the instances of an agent share. They are deleted with the agent. */
export class AgentObjects {
  readonly #cluster: Cluster;
  readonly #names: Names;
  readonly #owners = new Recent<V1OwnerReference>();
  readonly #pullSecrets = new Recent<string>();

  constructor(cluster: Cluster, names: Names) {
    this.#cluster = cluster;
    this.#names = names;
  }

  /** Returns the object that owns everything of an agent, and makes it if it is missing. */
  async ownerOf(owner: InstanceOwner | undefined): Promise<V1OwnerReference[]> {
    if (!owner) return [];
    return [await this.#owners.get(owner.agentId, () => this.#makeOwner(owner))];
  }

  /** Returns the name of a Secret with the registry's credentials, and makes it if it is missing. */
  pullSecret(
    secret: PullSecret,
    owner: InstanceOwner | undefined,
    ownerReferences: V1OwnerReference[],
  ): Promise<string> {
    const { service } = this.#names;
    const { host, username, token } = secret;
    const text = JSON.stringify([service, owner?.agentId, host, username, token]);
    const name = `${service}-pull-${createHash("sha256").update(text).digest("hex").slice(0, 20)}`;
    return this.#pullSecrets.get(name, () => this.#makePullSecret(name, secret, ownerReferences));
  }

  /** Tells whether an instance of the agent was made a moment ago. */
  isRecent(agentId: string): boolean {
    return this.#owners.has(agentId);
  }

  /** Removes the agent's object; the cluster removes all that it owns. */
  async remove(agentId: string): Promise<void> {
    this.#owners.drop(agentId);
    const path = `configmaps/${this.#names.agent(agentId)}`;
    await this.#cluster.ask({ what: `remove ${path}`, method: "DELETE", path }).catch((error: unknown) => {
      if (!isKind(error, "missing")) throw error;
    });
  }

  async #makeOwner({ agentId, agentName }: InstanceOwner): Promise<V1OwnerReference> {
    const name = this.#names.agent(agentId);
    const body: V1ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name,
        labels: {
          "app.kubernetes.io/managed-by": "vocalhost",
          [labels.service]: this.#names.service,
          [labels.kind]: "agent",
          [labels.agent]: agentId,
          [labels.agentName]: labelValue(agentName),
        },
      },
    };
    const made = await this.#ensure<V1ConfigMap>("configmaps", name, body);
    return { apiVersion: "v1", kind: "ConfigMap", name, uid: made.metadata?.uid ?? "" };
  }

  async #makePullSecret(name: string, secret: PullSecret, owner: V1OwnerReference[]): Promise<string> {
    const { username, token } = secret;
    const host = secret.host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
    const key = /(?:^|\.)docker\.io$/.test(host) ? DOCKER_KEY : host;
    const auth = Buffer.from(`${username}:${token}`).toString("base64");
    const body: V1Secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        labels: { [labels.service]: this.#names.service, [labels.kind]: "pull-secret" },
        ownerReferences: owner,
      },
      immutable: true,
      type: "kubernetes.io/dockerconfigjson",
      stringData: {
        ".dockerconfigjson": JSON.stringify({ auths: { [key]: { username, password: token, auth } } }),
      },
    };
    await this.#ensure<V1Secret>("secrets", name, body);
    return name;
  }

  async #ensure<T>(kind: "configmaps" | "secrets", name: string, body: object): Promise<T> {
    try {
      return await this.#cluster.ask<T>({ what: `make ${kind}/${name}`, method: "POST", path: kind, body });
    } catch (error) {
      if (!isKind(error, "taken")) throw error;
      return this.#cluster.ask<T>({ what: `read ${kind}/${name}`, path: `${kind}/${name}` });
    }
  }
}

/** Remembers what was made a moment ago. Older entries are made again, because another client may have deleted them. */
class Recent<T> {
  readonly #known = new Map<string, { made: Promise<T>; atMs: number }>();

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  drop(key: string): void {
    this.#known.delete(key);
  }

  async get(key: string, make: () => Promise<T>): Promise<T> {
    const found = this.#find(key);
    if (found) return found;
    const made = make();
    this.#known.set(key, { made, atMs: performance.now() });
    return made.catch((error: unknown) => {
      if (this.#known.get(key)?.made === made) this.#known.delete(key);
      throw error;
    });
  }

  #find(key: string): Promise<T> | undefined {
    const found = this.#known.get(key);
    return found && performance.now() - found.atMs < RECENT_MS ? found.made : undefined;
  }
}
