// A process of its own: a stand-in API server whose pods run at once, as pretended instances.
import type { ExitRecord } from "@vocalhost/protocol";
import type { ServerResponse } from "node:http";
import {
  startStandInApi,
  type ApiObject,
} from "../../../packages/drivers/src/testing/cluster/stand-in-api.ts";
import { labels } from "../../../packages/drivers/src/kubernetes/names.ts";
import type { ClusterAnswer } from "./cluster.ts";
import { createPretendedInstances } from "./instances.ts";
import { startPretendedRegistry } from "../../../testing/pretended-registry.ts";

const PER_NET = 250;
const api = await startStandInApi();
const registry = await startPretendedRegistry();
const names = new Map<string, string>();
const readers = new Map<string, Set<ServerResponse>>();
let made = 0;

const instances = createPretendedInstances({
  ended: (id, exit) => setTimeout(() => over(names.get(id) ?? "", exit), 100), // the event goes before it
});

function look(kind: string, pod: ApiObject): void {
  if (kind !== "pods") return;
  const { name = "", deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return over(name);
  if (pod["spec"].nodeName !== undefined) return;
  pod["spec"].nodeName = "pretended";
  void run(name, pod.metadata.labels?.[labels.instance] ?? "");
}

async function run(name: string, id: string): Promise<void> {
  made += 1;
  const ip = `127.${20 + (process.pid % 200)}.${Math.floor(made / PER_NET) % PER_NET}.${1 + (made % PER_NET)}`;
  names.set(id, name);
  await instances.open(id, ip);
  api.change("pods", name, (pod) => {
    pod["status"] = {
      phase: "Running",
      podIP: ip,
      hostIP: "127.0.0.1",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        { name: "bot", ready: true, state: { running: { startedAt: new Date().toISOString() } } },
      ],
    };
  });
}

function over(name: string, exit?: ExitRecord): void {
  const pod = api.find("pods", name);
  if (!pod) return;
  if (pod["status"]?.phase !== "Succeeded") {
    const id = pod.metadata.labels?.[labels.instance] ?? "";
    instances.close(id);
    names.delete(id);
    const message = exit ? JSON.stringify({ exit }) : "";
    const startedAt = new Date().toISOString();
    const terminated = { exitCode: 0, reason: "Completed", startedAt, message };
    api.change("pods", name, (object) => {
      object["status"] = {
        ...{ phase: "Succeeded", podIP: object["status"]?.podIP },
        containerStatuses: [{ name: "bot", ready: false, state: { terminated } }],
      };
    });
  }
  for (const response of readers.get(name) ?? []) response.end();
  readers.delete(name);
  if ((pod.metadata.deletionGracePeriodSeconds ?? 0) > 0) api.released(name);
}

function isRunning(name: string): boolean {
  return api.find("pods", name)?.["status"]?.phase === "Running";
}

api.onChange(look);
// The bot prints nothing, so a client that follows its log waits.
api.logs((name, query, response) => {
  response.writeHead(200, { "content-type": "text/plain" }).flushHeaders();
  if (query.get("follow") !== "true" || !isRunning(name)) return void response.end();
  readers.set(name, (readers.get(name) ?? new Set()).add(response));
  return undefined;
});

const tell = (answer: ClusterAnswer): void => void process.send?.(answer);
process.on("message", () => tell({ type: "calls", calls: api.requests.length }));
process.on("disconnect", () => process.exit(0));
tell({ type: "ready", url: api.url, token: api.token, image: registry.image, registry: registry.host });
