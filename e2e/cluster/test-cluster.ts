import {
  CoreV1Api,
  KubeConfig,
  loadYaml,
  RbacAuthorizationV1Api,
  type V1Role,
} from "@kubernetes/client-node";
import { createImage, packLayer, pushImage, thisPlatform, type Image } from "@vocalhost/images";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { makeBotImage } from "../../testing/bot-image.ts";
import { startDockerRegistry } from "../../testing/docker-registry.ts";
import { readTestCluster } from "./config.ts";

/** The cluster that `KUBECONFIG` names: a namespace of its own, and a registry its nodes pull from. */
export interface TestCluster extends AsyncDisposable {
  /** Whose user may do everything. */
  config: KubeConfig;
  api: CoreV1Api;
  namespace: string;
  /** A kubeconfig with the rights that the documentation says the driver needs, and no others. */
  kubeconfig: string;
  /** `host[:port]` of the registry. */
  registry: string;
  /** Address of this machine as pods see it; undefined: they cannot reach it. */
  machine: string | undefined;
  /** Variables of a service whose bots are pods here. Pods say that they are ready at that port of this machine, if they reach it. */
  settings(readyPort?: number): Record<string, string>;
  /** Pushes an image of a bot's text and gives its name with a tag. @default on what is made in seconds */
  push(bot: string, base?: Image): Promise<string>;
  /** Pushes an image as it is, and gives its name without the tag. */
  pushImage(image: Image, as: { name: string; tag: string }): Promise<string>;
}

const READY_PORT = 7871;
const NAMESPACE_GONE_MS = 60_000;
const VOICE_ENGINE = fileURLToPath(new URL("../engines/pass-through-engine.ts", import.meta.url));
const PAGE = new URL("../../docs/hosted/kubernetes.md", import.meta.url);

export interface TestClusterOptions {
  /** UDP ports of the nodes, one for each pod: the namespace lets them have some. */
  mediaPorts?: string | undefined;
}

export async function openTestCluster({ mediaPorts }: TestClusterOptions = {}): Promise<TestCluster> {
  const { registry: named, machine } = readTestCluster();
  await using stack = new AsyncDisposableStack();
  const config = new KubeConfig();
  config.loadFromDefault();
  const api = config.makeApiClient(CoreV1Api);
  const namespace = `vocalhost-check-${randomUUID().slice(0, 8)}`;
  const enforced = mediaPorts === undefined ? "restricted" : "privileged"; // ports of nodes are in no other standard
  const labels = { "pod-security.kubernetes.io/enforce": enforced };
  await api.createNamespace({ body: { metadata: { name: namespace, labels } } });
  stack.defer(() => removeNamespace(api, namespace));
  const repository = named ?? `${stack.use(await startDockerRegistry()).host}/check`;
  const folder = mkdtempSync(join(tmpdir(), "cluster-images-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(await restrictedConfig(config, namespace)), { mode: 0o600 });
  const [host = ""] = repository.split("/", 1);
  let quickBase: Promise<Image> | undefined;
  let count = 0;
  const owned = stack.move();
  return {
    config,
    api,
    namespace,
    kubeconfig,
    registry: host,
    machine,
    settings(readyPort = READY_PORT) {
      const readyEndpoint = `${machine}:${readyPort}`;
      return {
        VOCALHOST_DRIVER: "kubernetes",
        VOCALHOST_KUBERNETES_CONFIG: kubeconfig,
        VOCALHOST_KUBERNETES_SERVICE: "check",
        VOCALHOST_REGISTRIES: host,
        ...(mediaPorts === undefined ? {} : { VOCALHOST_MEDIA_PORTS: mediaPorts }),
        ...(machine === undefined
          ? {}
          : {
              VOCALHOST_KUBERNETES_READY_URL: `http://${readyEndpoint}`,
              VOCALHOST_KUBERNETES_LISTEN: readyEndpoint,
            }),
      };
    },
    async push(bot, base) {
      quickBase ??= base ? undefined : makeBotImage(folder, { voiceEngine: VOICE_ENGINE });
      const under = base ?? (await quickBase);
      const number = ++count;
      const layer = await packLayer({
        entries: [
          { path: "app/bot.ts", mode: 0o644, uid: 0, gid: 0, kind: "file", source: Buffer.from(bot) },
        ],
        file: join(folder, `bot-${number}.tar.gz`),
        createdBy: "test",
      });
      const image = createImage({
        platform: thisPlatform(),
        ...(under ? { base: under } : {}),
        layers: [layer],
        defaults: {},
      });
      const name = `${repository}/bot:${namespace}-${number}`;
      await pushImage(image, name);
      return name;
    },
    async pushImage(image, { name, tag }) {
      await pushImage(image, `${repository}/${name}:${tag}`);
      return `${repository}/${name}`;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function restrictedConfig(config: KubeConfig, namespace: string): Promise<object> {
  const [, text] = /```yaml\n([^`]*kind: Role\n[^`]*)```/.exec(readFileSync(PAGE, "utf8")) ?? [];
  const { rules } = loadYaml<V1Role>(text ?? "");
  const name = "check";
  const metadata = { name };
  const core = config.makeApiClient(CoreV1Api);
  const rights = config.makeApiClient(RbacAuthorizationV1Api);
  await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
  await rights.createNamespacedRole({ namespace, body: { metadata, rules: rules ?? [] } });
  await rights.createNamespacedRoleBinding({
    namespace,
    body: {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  });
  const { status } = await core.createNamespacedServiceAccountToken({
    ...{ name, namespace },
    body: { spec: { audiences: [], expirationSeconds: 3_600 } },
  });
  const { server, caData, caFile, skipTLSVerify } = config.getCurrentCluster() ?? {};
  return {
    "current-context": name,
    clusters: [
      {
        name,
        cluster: {
          server,
          "certificate-authority-data": caData,
          "certificate-authority": caFile,
          "insecure-skip-tls-verify": skipTLSVerify,
        },
      },
    ],
    users: [{ name, user: { token: status?.token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  };
}

/** Throws if a test has left pods. The cluster removes everything else with the namespace. */
async function removeNamespace(api: CoreV1Api, name: string): Promise<void> {
  const { items } = await api.listNamespacedPod({ namespace: name });
  await api.deleteNamespace({ name });
  const deadlineMs = performance.now() + NAMESPACE_GONE_MS;
  while (performance.now() < deadlineMs) {
    const isThere = await api.readNamespace({ name }).then(
      () => true,
      () => false,
    );
    if (!isThere) break;
    await pause(500);
  }
  if (items.length > 0) throw new Error(`${items.length} pods were left in ${name}`);
}
