// A process of its own: pretended instances behind the pods of a real API server, and a way to it that counts.
import { KubeConfig } from "@kubernetes/client-node";
import {
  createServer,
  globalAgent,
  request as requestHttp,
  type Agent as HttpAgent,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Agent, request as requestHttps } from "node:https";
import { openCluster } from "../../../packages/drivers/src/kubernetes/cluster.ts";
import { createNames, labels } from "../../../packages/drivers/src/kubernetes/names.ts";
import { readPodState } from "../../../packages/drivers/src/kubernetes/pod-state.ts";
import { WatchedPods } from "../../../packages/drivers/src/kubernetes/watched-pods.ts";
import { silentLog } from "../../../packages/base/src/log.ts";
import { listenOnLoopback } from "../../../testing/loopback-server.ts";
import type { ClusterAnswer } from "./cluster.ts";
import { createPretendedInstances } from "./instances.ts";
import { startPretendedRegistry } from "../../../testing/pretended-registry.ts";

const [namespace = "default"] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromDefault();
const server = config.getCurrentCluster()?.server ?? "";
const cluster = await openCluster({ namespace });
const registry = await startPretendedRegistry();
const instances = createPretendedInstances({ ended: () => undefined }); // kwok's pods never end by themselves
const open = new Set<string>();
let calls = 0;

const watched = new WatchedPods({
  ...{ cluster, selector: createNames("vocalhost").pods, log: silentLog },
  changed: () => void look(),
});

async function look(): Promise<void> {
  const there = new Set<string>();
  for (const pod of (await watched.all()).values()) {
    const id = pod.metadata?.labels?.[labels.instance] ?? "";
    const seen = readPodState(pod);
    if (seen.state !== "running" || seen.ip === undefined) continue;
    there.add(id);
    if (!open.has(id)) void instances.open(id, seen.ip);
    open.add(id);
  }
  for (const id of open) {
    if (there.has(id)) continue;
    instances.close(id);
    open.delete(id);
  }
}

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  calls += 1;
  // No kubelet has their output: a bot that prints nothing, whose log is followed.
  if (/\/log\?/.test(request.url ?? "")) return response.writeHead(200).flushHeaders();
  const { authorization: _, host: __, ...headers } = request.headers;
  const how = { method: request.method, headers };
  await config.applyToHTTPSOptions(how);
  const send = server.startsWith("http:") ? requestHttp : requestHttps;
  const onward = send(new URL(request.url ?? "/", server), { ...how, agent: agentFor(how) });
  onward.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

let withCertificate: Agent | undefined;
/** One for all calls: a handshake for each would take longer than they do. */
function agentFor(how: object): HttpAgent {
  if (server.startsWith("http:")) return globalAgent;
  const { ca, cert, key } = how as Record<"ca" | "cert" | "key", string | undefined>;
  withCertificate ??= new Agent({
    ...{ keepAlive: true, maxSockets: Infinity },
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  return withCertificate;
}

const proxy = await listenOnLoopback(
  createServer((request, response) => void forward(request, response).catch(() => response.destroy())),
);
const tell = (answer: ClusterAnswer): void => void process.send?.(answer);
process.on("message", () => tell({ type: "calls", calls }));
process.on("disconnect", () => process.exit(0));
tell({ type: "ready", url: proxy.url, token: "none", image: registry.image, registry: registry.host });
