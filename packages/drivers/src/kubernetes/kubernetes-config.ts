import { list, oneOf, parsedBy, readSettings, type Settings } from "@vocalhost/protocol";
import { parsePlatform, thisPlatform } from "@vocalhost/images";
import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";

const SERVICE_MAX = 19; // names of objects have an id of 36 characters behind it, and a word between

export const kubernetesSettings = {
  kubeconfig: {
    name: "VOCALHOST_KUBERNETES_CONFIG",
    preset: "what `KUBECONFIG` names, `~/.kube/config`, or the service's own pod",
    help: "kubeconfig of the cluster that runs bots as pods; see [kubernetes](kubernetes.md)",
  },
  context: {
    name: "VOCALHOST_KUBERNETES_CONTEXT",
    preset: "its current one",
    help: "context of that kubeconfig",
  },
  namespace: {
    name: "VOCALHOST_KUBERNETES_NAMESPACE",
    schema: objectName(63).optional(),
    preset: "that of the context or of its own pod",
    help: "namespace of the pods",
  },
  service: {
    name: "VOCALHOST_KUBERNETES_SERVICE",
    schema: objectName(SERVICE_MAX).default("vocalhost"),
    help: "first part of the names of all objects there; tells services in one namespace apart",
  },
  readyUrl: {
    name: "VOCALHOST_KUBERNETES_READY_URL",
    schema: z.string().refine(isReadyUrl, "must be such as http://vocalhost-controller:7871").optional(),
    help: "`http://host:port` at which pods tell the controller that they listen; without it the controller polls, which takes a moment longer",
  },
  listen: {
    name: "VOCALHOST_KUBERNETES_LISTEN",
    schema: parsedBy(parseListen).optional(),
    preset: "all addresses, the port of that URL",
    help: "address and port at which the controller listens for them",
  },
  architecture: {
    name: "VOCALHOST_KUBERNETES_ARCHITECTURE",
    schema: oneOf(["amd64", "arm64"]).optional(),
    preset: "that of the service's machine",
    help: "processor architecture of the nodes: `amd64` or `arm64`",
  },
  nodeSelector: {
    name: "VOCALHOST_KUBERNETES_NODE_SELECTOR",
    schema: list.pipe(z.array(parsedBy(parsePair))).default([]),
    help: "labels of nodes that bots may run on: `pool=bots,disk=fast`",
  },
  runtimeClass: {
    name: "VOCALHOST_KUBERNETES_RUNTIME_CLASS",
    schema: objectName(253).optional(),
    help: "runtime class of the pods, such as that of gVisor",
  },
  priorityClass: {
    name: "VOCALHOST_KUBERNETES_PRIORITY_CLASS",
    schema: objectName(253).optional(),
    help: "priority class of the pods",
  },
  pullSecrets: {
    name: "VOCALHOST_KUBERNETES_PULL_SECRETS",
    schema: list.pipe(z.array(objectName(253))).default([]),
    help: "pull secrets in the namespace that give all agents access to registries, separated by commas",
  },
} as const satisfies Settings;

export type KubernetesConfig = ReturnType<typeof readKubernetes>;

/** Throws an error whose message names the setting that is wrong. */
export function readKubernetes(
  environment: Record<string, string | undefined>,
  { dataFolder, registries }: { dataFolder: string; registries: string[] },
) {
  const settings = readSettings(kubernetesSettings, environment);
  const { architecture, readyUrl, listen, nodeSelector, ...others } = settings;
  if (listen && !readyUrl)
    throw new Error(
      "VOCALHOST_KUBERNETES_LISTEN needs VOCALHOST_KUBERNETES_READY_URL, the URL at which pods reach it",
    );
  return {
    kind: "kubernetes" as const,
    folder: join(dataFolder, "pods"),
    platform: architecture ? parsePlatform(`linux/${architecture}`) : thisPlatform(),
    nodeSelector: Object.fromEntries(nodeSelector),
    readyEndpoint: readyUrl === undefined ? undefined : toReadyEndpoint(readyUrl, listen),
    registries,
    ...others,
  };
}

function objectName(max: number): z.ZodType<string, string> {
  return z
    .string()
    .max(max, `must have at most ${max} characters`)
    .regex(
      /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/,
      `must be a name of small letters, digits and dashes, at most ${max} long`,
    );
}

function isReadyUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" && url.pathname === "/";
}

function toReadyEndpoint(
  url: string,
  listen: { host: string; port: number } | undefined,
): { url: string; host: string; port: number } {
  return {
    url: url.replace(/\/+$/, ""),
    ...(listen ?? { host: "0.0.0.0", port: Number(new URL(url).port || 80) }),
  };
}

function parseListen(text: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (isIP(host) > 0 && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error("must be address:port such as 0.0.0.0:7871");
}

function parsePair(text: string): [string, string] {
  const [, key, value] = /^([\w./-]+)=([\w.-]*)$/.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return [key, value];
  throw new Error("must be labels such as pool=bots,disk=fast");
}
