import {
  InstanceEvent,
  type InstanceStart,
  type InstanceStatus,
  type InstanceStop,
} from "@vocalhost/protocol";
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import {
  InstanceCallError,
  type InstanceNetwork,
  type InstanceReport,
  type InstanceTarget,
} from "./instance-network.ts";

export interface HttpInstanceNetworkOptions {
  tokenOf(instanceId: string): string;
  clock: Clock;
  heartbeatMs: number;
  log: Log;
  /** Something new was heard of an instance. */
  heard(instanceId: string): void;
}

const STOP_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 200;
const ANSWER_MAX_BYTES = 1024 * 1024; // the bot's process is not to be trusted with our memory
const NEWLINE = 0x0a;

/** Speaks with instances over HTTP, and keeps one event stream open to each that is watched. */
export function openHttpInstanceNetwork(options: HttpInstanceNetworkOptions): InstanceNetwork & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, timeout: 60_000 });
  const ears = new Map<string, Ear>();

  async function command(
    target: InstanceTarget,
    path: string,
    body: object,
    timeoutMs: number,
  ): Promise<void> {
    const { status, text } = await post({
      target,
      path,
      body,
      timeoutMs,
      agent,
      token: options.tokenOf(target.id),
    });
    if (status >= 200 && status < 300) return;
    throw new InstanceCallError(`The instance answered ${status}: ${text.slice(0, 200)}`, "refused");
  }

  return {
    start: (target, request: InstanceStart, timeoutMs) =>
      command(target, "/instance/start", request, timeoutMs),
    stop: (target, request: InstanceStop) => command(target, "/instance/stop", request, STOP_TIMEOUT_MS),
    watch(targets) {
      const wanted = new Map(targets.map((target) => [target.id, target]));
      for (const [id, ear] of ears) {
        if (wanted.get(id)?.address === ear.target.address) continue;
        ear.close();
        ears.delete(id);
      }
      for (const target of targets)
        if (!ears.has(target.id)) ears.set(target.id, openEar(target, options.tokenOf(target.id), options));
    },
    report: (instanceId) => ears.get(instanceId)?.report(),
    missed: (instanceId) => ears.get(instanceId)?.missed() ?? 0,
    [Symbol.dispose]() {
      for (const ear of ears.values()) ear.close();
      ears.clear();
      agent.destroy();
    },
  };
}

interface Ear {
  target: InstanceTarget;
  report(): InstanceReport | undefined;
  missed(): number;
  close(): void;
}

function openEar(target: InstanceTarget, token: string, options: HttpInstanceNetworkOptions): Ear {
  const { clock, heartbeatMs, log } = options;
  let report: InstanceReport | undefined;
  let missed = 0;
  let closed = false;
  let request: ClientRequest | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  const openedAtMs = clock.monotonicMs();

  function hear(line: string): void {
    const event = InstanceEvent.safeParse(parseJson(line));
    if (!event.success) return log.warn({ instanceId: target.id }, "instance said something strange");
    const { status } = event.data;
    const isNews = missed > 0 || !report || newsIn(status) !== newsIn(report.status);
    missed = 0;
    report = { status, heardAtMs: clock.monotonicMs(), heardAt: clock.nowMs() };
    if (isNews) options.heard(target.id); // a mere heartbeat can wait for the next round
  }

  function connect(): void {
    if (closed) return;
    const [host, port] = splitAddress(target.address);
    request = httpRequest({
      host,
      port,
      path: "/instance/events",
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    });
    request.on("response", (response) => {
      if (response.statusCode !== 200) return void response.resume();
      endAtOverlongLines(response);
      const lines = createInterface({ input: response });
      lines.on("line", hear);
      lines.on("error", () => undefined); // the request's own error tells
      return undefined;
    });
    request.on("error", () => undefined);
    request.on("close", () => {
      if (!closed) reconnect = setTimeout(connect, RECONNECT_MS);
    });
    request.end();
  }

  const watchdog = setInterval(() => {
    const sinceMs = clock.monotonicMs() - (report?.heardAtMs ?? openedAtMs);
    if (sinceMs < heartbeatMs * 1.5) return;
    missed++;
    options.heard(target.id);
  }, heartbeatMs);
  connect();
  return {
    target,
    report: () => report,
    missed: () => missed,
    close() {
      closed = true;
      clearInterval(watchdog);
      clearTimeout(reconnect);
      request?.destroy();
    },
  };
}

/** What somebody has to act on. That it took its session is known to whoever gave it one. */
function newsIn({ ready, session }: InstanceStatus): "over" | "of use" | "of no use" {
  if (session?.state === "ended") return "over";
  return ready || session ? "of use" : "of no use";
}

interface PostOptions {
  target: InstanceTarget;
  path: string;
  body: object;
  timeoutMs: number;
  agent: Agent;
  token: string;
}

function post({
  target,
  path,
  body,
  timeoutMs,
  agent,
  token,
}: PostOptions): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const [host, port] = splitAddress(target.address);
  const payload = JSON.stringify(body);
  const request = httpRequest({
    host,
    port,
    path,
    agent,
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(payload),
    },
  });
  const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  request.on("response", (response) => {
    readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
  });
  request.on("error", fail);
  request.on("close", () => clearTimeout(timer));
  request.end(payload);
  return promise;

  function fail(error: NodeJS.ErrnoException): void {
    const neverArrived = error.code === "ECONNREFUSED" || error.code === "EHOSTUNREACH";
    reject(
      new InstanceCallError(`The instance did not answer: ${error.message}`, neverArrived ? "no" : "maybe", {
        cause: error,
      }),
    );
  }
}

function endAtOverlongLines(response: IncomingMessage): void {
  let lineBytes = 0;
  response.on("data", (chunk: Buffer) => {
    const newline = chunk.lastIndexOf(NEWLINE);
    lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
    if (lineBytes > ANSWER_MAX_BYTES) response.destroy();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > ANSWER_MAX_BYTES) throw new Error("its answer is too long");
  }
  return text;
}

function splitAddress(address: string): [string, number] {
  const at = address.lastIndexOf(":");
  return [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
