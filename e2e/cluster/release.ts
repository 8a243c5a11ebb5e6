import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { KubernetesObjectApi } from "@kubernetes/client-node";
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { peerNames } from "../../packages/base/src/peers/peer-names.ts";
import { makeTestAuthority } from "../../testing/peer-certificates.ts";
import { until } from "../../testing/wait.ts";
import type { Door } from "./live-calls.ts";
import type { TestCluster } from "./test-cluster.ts";

/** The chart as Helm has installed it: two controllers and two gateways in pods. */
export interface Release {
  readonly api: ApiClient;
  /** Gateways that are ready, by the addresses of their pods. */
  doors(): Promise<Door[]>;
  upgrade(tag: string): Promise<void>;
  rollback(): Promise<void>;
  uninstall(): Promise<void>;
  /** What is there with that label, as `Kind name`. */
  objects(selector: string): Promise<string[]>;
}

export interface ReleaseOptions {
  /** Of the service, without its tag. */
  image: string;
  tag: string;
  databaseUrl: string;
}

const CHART = fileURLToPath(new URL("../../deploy/helm/vocalhost/", import.meta.url));
const NAME = "vocalhost";
const PORT = 7870;
const READY = "5m";
const KINDS = [
  ...["v1 Pod", "v1 Service", "v1 ServiceAccount", "v1 Secret", "v1 ConfigMap", "v1 PersistentVolumeClaim"],
  ...["apps/v1 Deployment", "apps/v1 StatefulSet", "policy/v1 PodDisruptionBudget"],
  ...["networking.k8s.io/v1 NetworkPolicy", "networking.k8s.io/v1 Ingress"],
  ...["rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding"],
];
const run = promisify(execFile);

export function helmIsMissing(): string | undefined {
  return spawnSync("helm", ["version"]).status === 0 ? undefined : "Helm is not installed";
}

/** `helm <verb> <release>` of our chart, in the cluster's namespace. */
export async function runHelm(
  { namespace }: TestCluster,
  [verb = "", name = "", ...options]: string[],
): Promise<void> {
  const chart = /^(?:install|upgrade)$/.test(verb) ? [CHART] : [];
  await run("helm", [verb, name, ...chart, ...options, "--namespace", namespace]);
}

/** Resolves when all of its pods are ready. */
export async function installRelease(cluster: TestCluster, options: ReleaseOptions): Promise<Release> {
  const { api, namespace, config, registry } = cluster;
  await makeSecrets(cluster, options.databaseUrl);
  const few = { requests: { cpu: "50m", memory: "128Mi" } }; // two controllers take turns on small nodes too
  const values = {
    publicUrl: `http://bots.test:${PORT}`,
    image: { repository: options.image },
    existingSecret: "vocalhost",
    bots: { registries: [registry] },
    resources: few,
    several: {
      enabled: true,
      controllerTls: "vocalhost-controller-tls",
      gatewayTls: "vocalhost-gateway-tls",
      gatewayResources: few,
    },
  };
  const helm = (...args: string[]): Promise<unknown> => run("helm", [...args, "--namespace", namespace]);
  const change = (how: string[], tag: string): Promise<unknown> =>
    helm(
      ...[...how, NAME, CHART, "--wait", "--timeout", READY, "--set-string", `image.tag=${tag}`],
      ...Object.entries(values).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`),
    );
  const pods = async (part: string) =>
    (
      await api.listNamespacedPod({
        namespace,
        labelSelector: `app.kubernetes.io/instance=${NAME},app.kubernetes.io/component=${part}`,
      })
    ).items;

  await change(["install"], options.tag).catch(async (error: unknown) => {
    const told = await Promise.all(
      [...(await pods("controller")), ...(await pods("gateway"))].map(lastWords),
    );
    throw new Error(`${String(error)}\n${told.join("\n")}`, { cause: error });
  });
  const { privateKey, publicKey } = await until(printedKeys, 60_000, "keys in a controller's log");

  async function lastWords({ metadata, status }: Awaited<ReturnType<typeof pods>>[number]): Promise<string> {
    const name = metadata?.name ?? "";
    const log = await api.readNamespacedPodLog({ namespace, name, tailLines: 10 }).catch(String);
    return `${name} ${status?.phase}: ${log}`;
  }

  /** The notes of the chart say to take them from there. */
  async function printedKeys(): Promise<Record<"privateKey" | "publicKey", string> | undefined> {
    for (const { metadata } of await pods("controller")) {
      const text = await api.readNamespacedPodLog({ namespace, name: metadata?.name ?? "" });
      const [, privateKey] = /Private key\s+(\S+)/.exec(text) ?? [];
      const [, publicKey] = /Public key\s+(\S+)/.exec(text) ?? [];
      if (privateKey !== undefined && publicKey !== undefined) return { privateKey, publicKey };
    }
    return undefined;
  }

  async function doors(): Promise<Door[]> {
    return (await pods("gateway")).flatMap(({ metadata, status }) => {
      const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
      const address = status?.podIP;
      if (!isReady || address === undefined || metadata?.deletionTimestamp !== undefined) return [];
      const publicApi = createApiClient({ baseUrl: `http://${address}:${PORT}/v1`, token: publicKey });
      return [{ publicApi, publicKey, port: PORT, address }];
    });
  }

  return {
    doors,
    api: createApiClient({
      baseUrl: "http://bots.test/v1",
      token: privateKey,
      // Whichever of them is there: tests have no balancer.
      fetch: async (input: string | URL | Request, init?: RequestInit) => {
        const [door] = await doors();
        const url = new URL(input instanceof Request ? input.url : input);
        url.host = `${door?.address}:${PORT}`;
        return fetch(url, init);
      },
    }),
    upgrade: async (tag) => void (await change(["upgrade"], tag)),
    rollback: async () => void (await helm("rollback", NAME, "--wait", "--timeout", READY)),
    uninstall: async () => void (await helm("uninstall", NAME, "--wait", "--timeout", READY)),
    async objects(selector) {
      const all = KubernetesObjectApi.makeApiClient(config);
      const found = await Promise.all(
        KINDS.map(async (each) => {
          const [version = "", kind = ""] = each.split(" ");
          const { items } = await all.list(
            ...([version, kind, namespace] as const),
            ...([undefined, undefined, undefined, undefined] as const),
            selector,
          );
          return items.map(({ metadata }) => `${kind} ${metadata?.name}`);
        }),
      );
      return found.flat();
    },
  };
}

async function makeSecrets({ api, namespace }: TestCluster, databaseUrl: string): Promise<void> {
  const make = (name: string, stringData: Record<string, string>): Promise<unknown> =>
    api.createNamespacedSecret({ namespace, body: { metadata: { name }, stringData } });
  await make("vocalhost", {
    VOCALHOST_SECRET: randomBytes(32).toString("hex"),
    VOCALHOST_MASTER_KEYS: `first:${randomBytes(32).toString("base64")}`,
    VOCALHOST_DATABASE_URL: databaseUrl,
  });
  await using authority = await makeTestAuthority();
  for (const part of ["controller", "gateway"] as const) {
    const { ca, cert, key } = await authority.issue(part, [peerNames[part]]);
    const [caText, certText, keyText] = [ca, cert, key].map((file) => readFileSync(file, "utf8"));
    await make(`vocalhost-${part}-tls`, {
      "ca.crt": caText ?? "",
      "tls.crt": certText ?? "",
      "tls.key": keyText ?? "",
    });
  }
}
