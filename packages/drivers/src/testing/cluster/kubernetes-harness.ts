import { thisPlatform } from "@vocalhost/images";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patientMs } from "../../../../../testing/patience.ts";
import type { InstanceSource, InstanceSpec, OpenedDriver } from "../../driver.ts";
import { openKubernetesDriver } from "../../kubernetes.ts";
import { silentLog } from "@vocalhost/base/log";
import { writeBotProject } from "../bot-project.ts";
import type { DriverHarness } from "../driver-contract.ts";
import { startStandInApi, type ApiObject, type StandInApi } from "./stand-in-api.ts";
import { startStandInKubelet } from "./stand-in-kubelet.ts";

/** An image that no kubelet here has: its pod stays as it is. */
export const PRETENDED: InstanceSource & { kind: "image" } = {
  kind: "image",
  reference: `registry.example.com/bot@sha256:${"0".repeat(64)}`,
  pullSecret: undefined,
};

/** The stand-in has no other. */
export const PRETENDED_NAMESPACE = "bots";
const START = { phase: "Pending" };

/** The driver, a stand-in of an API server, and a kubelet that runs bots as processes. */
export interface KubernetesHarness extends DriverHarness {
  api: StandInApi;
  pod(spec: InstanceSpec): ApiObject;
  setStatus(spec: InstanceSpec, status: object): void;
  /** The scheduler finds no room, for this reason. */
  waitFor(spec: InstanceSpec, reason: string): void;
  ask(method: string, path: string): Promise<void>;
}

export interface KubernetesHarnessOptions {
  killedMs?: number;
  resizing?: "allowed" | "forbidden" | "unknown";
}

export async function startKubernetesHarness(
  options: KubernetesHarnessOptions = {},
): Promise<KubernetesHarness> {
  const { killedMs = patientMs(2_000), resizing } = options;
  const temporary = mkdtempSync(join(tmpdir(), "kubernetes-driver-"));
  const api = await startStandInApi(resizing ? { resizing } : {});
  const kubelet = startStandInKubelet(api);
  const kubeconfig = join(temporary, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(api)));
  const opened = new AsyncDisposableStack();
  let bots = 0;
  const open = async (): Promise<OpenedDriver> =>
    opened.use(
      await openKubernetesDriver({
        folder: join(temporary, "pods"),
        cluster: { kubeconfig, namespace: PRETENDED_NAMESPACE, answerMs: 5_000 },
        service: "vocalhost",
        platform: thisPlatform(),
        pods: { nodeSelector: {}, runtimeClass: undefined, priorityClass: undefined, pullSecrets: [] },
        readyEndpoint: { host: "127.0.0.1", port: 0 },
        killedMs,
        log: silentLog,
      }),
    );
  const setStatus: KubernetesHarness["setStatus"] = ({ id }, status) =>
    api.change("pods", `vocalhost-${id}`, (pod) => (pod["status"] = status));
  return {
    api,
    open,
    keepsLimits: false,
    async source(bot) {
      const reference = `registry.example.com/bot-${++bots}@sha256:${"0".repeat(64)}`;
      kubelet.images.set(reference, writeBotProject(join(temporary, `bot-${bots}`), bot));
      return { kind: "image", reference, pullSecret: undefined };
    },
    pod: ({ id }) => api.find("pods", `vocalhost-${id}`) ?? assert.fail(`no pod of ${id}`),
    setStatus,
    waitFor: (spec, message) =>
      setStatus(spec, {
        ...START,
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
      }),
    async ask(method, path) {
      const answer = await fetch(`${api.url}/api/v1/namespaces/bots/${path}`, {
        method,
        headers: { authorization: `Bearer ${api.token}` },
      });
      assert.ok(answer.ok);
    },
    async [Symbol.asyncDispose]() {
      await opened.disposeAsync();
      kubelet[Symbol.dispose]();
      await api[Symbol.asyncDispose]();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}

export function kubeconfigOf({ url, token }: StandInApi): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    clusters: [{ name: "here", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "us", user: { token } }],
    contexts: [{ name: "here", context: { cluster: "here", user: "us" } }],
  };
}
