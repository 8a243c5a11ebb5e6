import { isIP } from "node:net";
import { join } from "node:path";
import { parsePlatform, thisPlatform, type Platform } from "@vocalhost/images";

/** What running bots as pods of a cluster needs to know. */
export interface KubernetesConfig {
  kind: "kubernetes";
  folder: string;
  /** A kubeconfig file. @default what `KUBECONFIG` or the home folder has, then the one a pod is given */
  kubeconfig: string | undefined;
  context: string | undefined;
  namespace: string | undefined;
  /** Begins the names of all objects. */
  service: string;
  /** Of the nodes. */
  platform: Platform;
  readyEndpoint: { url: string; host: string; port: number } | undefined;
  nodeSelector: Record<string, string>;
  runtimeClass: string | undefined;
  priorityClass: string | undefined;
  pullSecrets: string[];
  /** Internal ones that images may come from all the same. */
  registries: string[];
}

type Environment = Record<string, string | undefined>;

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SERVICE_MAX = 19; // names of objects have an id of 36 characters behind it, and a word between

/** Throws an error whose message names the setting that is wrong. */
export function readKubernetes(
  environment: Environment,
  { dataFolder, registries }: { dataFolder: string; registries: string[] },
): KubernetesConfig {
  const text = (name: string): string | undefined => environment[`VOCALHOST_KUBERNETES_${name}`] || undefined;
  return {
    kind: "kubernetes",
    folder: join(dataFolder, "pods"),
    kubeconfig: text("CONFIG"),
    context: text("CONTEXT"),
    namespace: readName("NAMESPACE", text("NAMESPACE"), 63),
    service: readName("SERVICE", text("SERVICE"), SERVICE_MAX) ?? "vocalhost",
    platform: readPlatform(text("ARCHITECTURE")),
    readyEndpoint: readReadyEndpoint(text("READY_URL"), text("LISTEN")),
    nodeSelector: readPairs(text("NODE_SELECTOR")),
    runtimeClass: readName("RUNTIME_CLASS", text("RUNTIME_CLASS"), 253),
    priorityClass: readName("PRIORITY_CLASS", text("PRIORITY_CLASS"), 253),
    pullSecrets: list(text("PULL_SECRETS")).flatMap((name) => readName("PULL_SECRETS", name, 253) ?? []),
    registries,
  };
}

function readName(setting: string, text: string | undefined, max: number): string | undefined {
  if (text === undefined || (NAME.test(text.replaceAll(".", "-")) && text.length <= max)) return text;
  throw new Error(
    `VOCALHOST_KUBERNETES_${setting} must be a name of small letters, digits and dashes, at most ${max} long, got "${text}"`,
  );
}

function readPlatform(text: string | undefined): Platform {
  if (text === undefined) return thisPlatform();
  if (text === "amd64" || text === "arm64") return parsePlatform(`linux/${text}`);
  throw new Error(`VOCALHOST_KUBERNETES_ARCHITECTURE must be amd64 or arm64, got "${text}"`);
}

function readReadyEndpoint(
  url: string | undefined,
  listen: string | undefined,
): KubernetesConfig["readyEndpoint"] {
  if (url === undefined) {
    if (listen === undefined) return undefined;
    throw new Error(
      "VOCALHOST_KUBERNETES_LISTEN needs VOCALHOST_KUBERNETES_READY_URL: what pods reach it at",
    );
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "http:" || parsed.pathname !== "/")
    throw new Error(
      `VOCALHOST_KUBERNETES_READY_URL must be such as http://vocalhost-controller:7871, got "${url}"`,
    );
  const [, host = "", port = ""] =
    /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(listen ?? `0.0.0.0:${parsed.port || "80"}`) ?? [];
  if (isIP(host) > 0 && Number(port) <= 65_535)
    return { url: url.replace(/\/+$/, ""), host, port: Number(port) };
  throw new Error(`VOCALHOST_KUBERNETES_LISTEN must be address:port such as 0.0.0.0:7871, got "${listen}"`);
}

/** `pool=bots,disk=fast` */
function readPairs(text: string | undefined): Record<string, string> {
  return Object.fromEntries(
    list(text).map((pair) => {
      const [, key, value] = /^([\w./-]+)=([\w.-]*)$/.exec(pair) ?? [];
      if (key !== undefined && value !== undefined) return [key, value];
      throw new Error(`VOCALHOST_KUBERNETES_NODE_SELECTOR: write label=value, got "${pair}"`);
    }),
  );
}

function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}
