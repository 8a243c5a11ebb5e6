import type { KubeConfig } from "@kubernetes/client-node";
import { loadLibrary } from "@vocalhost/base/load-library";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import {
  Agent as HttpAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { ClusterError, errorOfAnswer, type ApiStatus } from "./cluster-error.ts";

export interface ClusterCall {
  /** Completes "The cluster refused to". */
  what: string;
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the namespace: `pods/one`. */
  path: string;
  /** Not in the namespace. */
  isOfServer?: boolean;
  /** @default the core group */
  group?: string;
  query?: Record<string, string | number | undefined>;
  body?: object;
  contentType?: string;
  signal?: AbortSignal;
}

export interface ClusterOptions {
  /** Path of a file. @default the one that `KUBECONFIG` names or the home folder has, then the one that pods are given */
  kubeconfig?: string | undefined;
  /** @default its current one */
  context?: string | undefined;
  /** @default that of the context, then that of our own pod */
  namespace?: string | undefined;
  answerMs?: number | undefined;
}

interface AskedToWait {
  againMs: number;
  error: ClusterError;
}

const ANSWER_MS = 15_000; // the API server itself gives up after 60
const ANSWER_MAX_BYTES = 256 * 1024 * 1024; // a list of all instances
const SOCKETS_MAX = 64;
const TRIES = 3;
const ASKED_TO_WAIT_MAX_MS = 5_000;
const OWN_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  return new Cluster(await loadConfig(options), options);
}

/** The API server of one cluster, and the service's namespace in it. */
export class Cluster {
  readonly server: string;
  readonly namespace: string;
  readonly #config: KubeConfig;
  readonly #agents: Agents;
  readonly #answerMs: number;
  readonly #hasProxy: boolean;

  constructor(config: KubeConfig, { namespace, answerMs = ANSWER_MS }: ClusterOptions) {
    const current = config.getCurrentCluster();
    if (!current) throw new Error("The kubeconfig names no cluster");
    this.namespace =
      namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? ownNamespace();
    this.server = current.server.replace(/\/+$/, "");
    this.#config = config;
    this.#agents = new Agents(this.server);
    this.#answerMs = answerMs;
    this.#hasProxy = current.proxyUrl !== undefined;
  }

  /** Returns the API server's answer. Rejects with `ClusterError`. */
  async ask<Answer>(call: ClusterCall): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      const outcome = await this.#askOnce(call);
      if ("answer" in outcome) return outcome.answer as Answer;
      if (tried === TRIES) throw outcome.error;
      await pause(outcome.againMs, undefined, call.signal ? { signal: call.signal } : {});
    }
  }

  /** Returns an answer that goes on until either side ends it. */
  async stream(
    call: Pick<ClusterCall, "what" | "path" | "query"> & { signal: AbortSignal },
  ): Promise<IncomingMessage> {
    try {
      const response = await this.#send(call, call.signal);
      if (response.statusCode === 200) return response;
      const status = parseAnswer(await textOf(response)) as ApiStatus | undefined;
      throw errorOfAnswer(response.statusCode ?? 0, status ?? {}, call.what);
    } catch (error) {
      throw error instanceof ClusterError ? error : unreachable(this.server, error);
    }
  }

  [Symbol.dispose](): void {
    this.#agents.destroy();
  }

  async #send(call: ClusterCall, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const url = urlOf(this, call);
    const how: RequestOptions = { method: call.method ?? "GET", headers: { accept: "application/json" } };
    await this.#config.applyToHTTPSOptions(how); // each time: tokens and certificates are replaced while we run
    if (!this.#hasProxy) how.agent = this.#agents.agentFor(how);
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    if (body)
      how.headers = {
        ...how.headers,
        "content-type": call.contentType ?? "application/json",
        "content-length": body.length,
      };
    const request: ClientRequest =
      url.protocol === "http:"
        ? requestHttp(url, { ...how, ...(signal ? { signal } : {}) })
        : requestHttps(url, { ...how, ...(signal ? { signal } : {}) });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  }

  async #askOnce(call: ClusterCall): Promise<{ answer: unknown } | AskedToWait> {
    const late = AbortSignal.timeout(this.#answerMs);
    try {
      const response = await this.#send(call, call.signal ? AbortSignal.any([call.signal, late]) : late);
      const code = response.statusCode ?? 0;
      const answer = parseAnswer(await textOf(response));
      if (code >= 200 && code < 300) return { answer };
      const error = errorOfAnswer(code, answer ?? {}, call.what);
      const seconds = Number(response.headers["retry-after"]);
      if (error.kind !== "busy" || !(seconds >= 0)) throw error;
      return { againMs: Math.min(seconds * 1_000, ASKED_TO_WAIT_MAX_MS), error };
    } catch (error) {
      if (error instanceof ClusterError || call.signal?.aborted) throw error;
      if (late.aborted)
        throw new ClusterError(
          "hung",
          `The cluster took more than ${this.#answerMs / 1_000} s to ${call.what}`,
        );
      throw unreachable(this.server, error);
    }
  }
}

async function loadConfig({ kubeconfig, context }: ClusterOptions): Promise<KubeConfig> {
  const library = await loadLibrary("@kubernetes/client-node", {
    needs: "The Kubernetes driver needs",
    load: () => import("@kubernetes/client-node"),
  });
  const config = new library.KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  if (context === undefined) return config;
  if (!config.getContextObject(context)) throw new Error(`The kubeconfig has no context ${context}`);
  config.setCurrentContext(context);
  return config;
}

function ownNamespace(): string {
  return existsSync(OWN_NAMESPACE) ? readFileSync(OWN_NAMESPACE, "utf8").trim() : "default";
}

/** Keeps connections open, and makes new ones when the kubeconfig's certificates were replaced. */
class Agents {
  readonly #server: string;
  #known: { from: string; agent: HttpAgent | HttpsAgent } | undefined;

  constructor(server: string) {
    this.#server = server;
  }

  agentFor({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions): HttpAgent | HttpsAgent {
    const from = [ca, cert, key].map(String).join("\n");
    if (this.#known?.from === from) return this.#known.agent;
    this.#known?.agent.destroy();
    const settings = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: SOCKETS_MAX };
    const agent = this.#server.startsWith("http:")
      ? new HttpAgent(settings)
      : new HttpsAgent({
          ...settings,
          ...{ ca, cert, key, servername },
          ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
        });
    this.#known = { from, agent };
    return agent;
  }

  destroy(): void {
    this.#known?.agent.destroy();
  }
}

function urlOf({ server, namespace }: Cluster, call: ClusterCall): URL {
  const { path, isOfServer, group, query } = call;
  const parts = [
    server,
    group === undefined ? "api/v1" : `apis/${group}`,
    ...(isOfServer ? [] : ["namespaces", namespace]),
    ...(path === "" ? [] : [path]),
  ];
  const url = new URL(parts.join("/"));
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { message: text.trim().slice(0, 500) };
  }
}

function unreachable(server: string, cause: unknown): ClusterError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new ClusterError("unreachable", `The cluster cannot be reached at ${server} (${code ?? message})`, {
    cause,
  });
}
