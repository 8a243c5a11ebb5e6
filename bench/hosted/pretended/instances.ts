import {
  InstanceStart,
  InstanceStop,
  type ExitRecord,
  type InstanceEvent,
  type InstanceStatus,
} from "@vocalhost/protocol";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createDoor, type Server } from "node:net";
import { PORT_INSIDE } from "../../../packages/drivers/src/instance-environment.ts";
import { defaultTiming } from "../../../packages/base/src/timing.ts";

/**
 * Instances that only pretend: they take a session, beat and end as real ones do, and run no bot. Thousands of them are
 * one process, each at a loopback address of its own, so what is measured is not Node starting and bots running.
 */
export interface PretendedInstances extends AsyncDisposable {
  open(id: string, ip: string): Promise<void>;
  close(id: string): void;
}

export interface PretendedOptions {
  /** Called when the session of an instance is over; the instance ends with it. */
  ended(id: string, exit: ExitRecord): void;
}

interface Pretended {
  id: string;
  door: Server;
  epoch: number;
  session: { id: string; startedMs: number; exit: ExitRecord | null } | undefined;
  streams: Set<ServerResponse>;
  heartbeat: NodeJS.Timeout;
}

export function createPretendedInstances(options: PretendedOptions): PretendedInstances {
  return new PretendedHost(options);
}

class PretendedHost implements PretendedInstances {
  readonly #byIp = new Map<string, Pretended>();
  readonly #ipOf = new Map<string, string>();
  readonly #ended: PretendedOptions["ended"];
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void this.#answer(request, response).catch(() => response.writeHead(500).end());
  });

  constructor({ ended }: PretendedOptions) {
    this.#ended = ended;
  }

  async open(id: string, ip: string): Promise<void> {
    if (this.#ipOf.has(id)) return;
    this.#ipOf.set(id, ip);
    const door = createDoor((socket) => void this.#server.emit("connection", socket));
    door.listen(PORT_INSIDE, ip);
    await once(door, "listening");
    const beat = (): void => publish(instance);
    const heartbeat = setInterval(beat, defaultTiming.heartbeatMs);
    const instance: Pretended = {
      ...{ id, door, epoch: 0, session: undefined },
      ...{ streams: new Set<ServerResponse>(), heartbeat },
    };
    this.#byIp.set(ip, instance);
  }

  close(id: string): void {
    const ip = this.#ipOf.get(id) ?? "";
    const instance = this.#byIp.get(ip);
    if (!instance) return;
    clearInterval(instance.heartbeat);
    for (const stream of instance.streams) stream.end();
    instance.door.close();
    this.#byIp.delete(ip);
    this.#ipOf.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#ipOf.keys()) this.close(id);
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const instance = this.#byIp.get(request.socket.localAddress ?? "");
    if (!instance) return void response.writeHead(503).end();
    switch (`${request.method} ${request.url}`) {
      case "GET /instance":
        return send(response, statusOf(instance));
      case "GET /instance/events":
        return listen(instance, response);
      case "POST /instance/start":
        return take(instance, InstanceStart.parse(await bodyOf(request)), response);
      case "POST /instance/stop":
        return this.#stop(instance, InstanceStop.parse(await bodyOf(request)), response);
      default:
        return void response.writeHead(404).end();
    }
  }

  #stop(instance: Pretended, { sessionId, reason }: InstanceStop, response: ServerResponse): void {
    const { session } = instance;
    if (session?.id === sessionId && !session.exit) {
      const elapsedMs = performance.now() - session.startedMs;
      session.exit = { sessionId, reason, elapsedMs, endedAtMs: Date.now(), marks: {}, filter: null };
      publish(instance);
      this.#ended(instance.id, session.exit);
    }
    return send(response, statusOf(instance));
  }
}

function take(instance: Pretended, { epoch, sessionId }: InstanceStart, response: ServerResponse): void {
  const { session } = instance;
  if (session && session.id !== sessionId) return void response.writeHead(409).end();
  instance.epoch = epoch;
  instance.session ??= { id: sessionId, startedMs: performance.now(), exit: null };
  publish(instance);
  return send(response, statusOf(instance));
}

function listen(instance: Pretended, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.write(lineOf(instance));
  instance.streams.add(response);
  response.on("close", () => instance.streams.delete(response));
}

function publish(instance: Pretended): void {
  const line = lineOf(instance);
  for (const stream of instance.streams) stream.write(line);
}

function lineOf(instance: Pretended): string {
  return `${JSON.stringify({ type: "status", status: statusOf(instance) } satisfies InstanceEvent)}\n`;
}

function statusOf({ id, epoch, session }: Pretended): InstanceStatus {
  return {
    ...{ instanceId: id, epoch, ready: !session, cpuMs: 100, memoryBytes: 60e6 },
    session: session
      ? {
          sessionId: session.id,
          state: session.exit ? "ended" : "running",
          elapsedMs: session.exit?.elapsedMs ?? performance.now() - session.startedMs,
          marks: {},
          exit: session.exit,
        }
      : null,
  };
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return JSON.parse(text);
}
