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
  /** Its session is over, and so is it. */
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

export function createPretendedInstances({ ended }: PretendedOptions): PretendedInstances {
  const byIp = new Map<string, Pretended>();
  const ipOf = new Map<string, string>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const instance = byIp.get(request.socket.localAddress ?? "");
    if (!instance) return void response.writeHead(503).end();
    switch (`${request.method} ${request.url}`) {
      case "GET /instance":
        return send(response, statusOf(instance));
      case "GET /instance/events":
        return listen(instance, response);
      case "POST /instance/start":
        return take(instance, InstanceStart.parse(await bodyOf(request)), response);
      case "POST /instance/stop":
        return stop(instance, InstanceStop.parse(await bodyOf(request)), response);
      default:
        return void response.writeHead(404).end();
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

  function stop(instance: Pretended, { sessionId, reason }: InstanceStop, response: ServerResponse): void {
    const { session } = instance;
    if (session?.id === sessionId && !session.exit) {
      const elapsedMs = performance.now() - session.startedMs;
      session.exit = { sessionId, reason, elapsedMs, endedAtMs: Date.now(), marks: {}, filter: null };
      publish(instance);
      ended(instance.id, session.exit);
    }
    return send(response, statusOf(instance));
  }

  function close(id: string): void {
    const ip = ipOf.get(id) ?? "";
    const instance = byIp.get(ip);
    if (!instance) return;
    clearInterval(instance.heartbeat);
    for (const stream of instance.streams) stream.end();
    instance.door.close();
    byIp.delete(ip);
    ipOf.delete(id);
  }

  return {
    async open(id, ip) {
      if (ipOf.has(id)) return;
      ipOf.set(id, ip);
      const door = createDoor((socket) => void server.emit("connection", socket));
      door.listen(PORT_INSIDE, ip);
      await once(door, "listening");
      const beat = (): void => publish(instance);
      const heartbeat = setInterval(beat, defaultTiming.heartbeatMs);
      const instance: Pretended = {
        ...{ id, door, epoch: 0, session: undefined },
        ...{ streams: new Set<ServerResponse>(), heartbeat },
      };
      byIp.set(ip, instance);
    },
    close,
    async [Symbol.asyncDispose]() {
      for (const id of ipOf.keys()) close(id);
      server.closeAllConnections();
    },
  };
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
