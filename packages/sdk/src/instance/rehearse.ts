import { AppError, InstanceStart, type InstanceStop } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import { runOnSocket } from "../server/doors/websocket.ts";
import { parseRequest } from "../server/error-replies.ts";
import { createRuntimeLog } from "../runtime/runtime-log.ts";
import { createSessionTable } from "../server/session-table.ts";
import { createLease } from "./lease.ts";

/**
 * Runs every code path of a start once before the first real one: the first run in a process costs many times the
 * second, and an instance serves one session only. It writes and logs nothing, and touches neither the bot nor the
 * real lease.
 */
export interface Rehearsal {
  run(address: string, token: string): Promise<void>;
}

const PATH = "/instance/rehearsal";
const REHEARSE_MS = 5_000; // a slow first start is better than none

export function mountRehearsal(app: FastifyInstance): Rehearsal {
  const { log } = createRuntimeLog(() => undefined);
  const sessions = createSessionTable(log);
  const over = Promise.withResolvers<void>();
  const lease = createLease({
    sessions,
    records: { address: nothing, alive: nothing, exit: nothing },
    isolation: { begin: () => undefined, status: () => null },
    log,
    changed: () => void JSON.stringify(lease.status()),
    over: () => over.resolve(),
  });
  let sessionId = "";
  app.get(PATH, { websocket: true }, (socket) => {
    const session = sessions.get(sessionId);
    if (!session) return socket.close(1008);
    return runOnSocket({ bot: () => sayHello, cliArgs: undefined, idleTimeoutSecs: null }, session, socket);
  });

  return {
    async run(address, token) {
      sessionId = randomUUID();
      const ask = (path: string, method: string, headers: Record<string, string>): ClientRequest =>
        request(`http://${address}${path}`, {
          agent: false,
          method,
          headers: { authorization: `Bearer ${token}`, ...headers },
          signal: AbortSignal.timeout(REHEARSE_MS),
        });
      try {
        lease.start(parseRequest(InstanceStart, startOf(sessionId)));
        const stop = ask("/instance/stop", "POST", { "content-type": "application/json" });
        // Stopping an unknown session changes nothing.
        stop.end(JSON.stringify({ epoch: 0, sessionId, reason: "stopped" } satisfies InstanceStop));
        const [response] = (await once(stop, "response")) as [IncomingMessage];
        await once(response.resume(), "end");
        await listen(ask(PATH, "GET", upgradeHeaders()));
        await over.promise;
      } catch {
        await lease.end("shutdown"); // a failed rehearsal is harmless
      }
    },
  };
}

async function sayHello(args: RunnerArguments): Promise<void> {
  if (args.kind === "websocket") args.websocket.send("hello");
}

/** Waits until the other side has sent data. */
async function listen(asked: ClientRequest): Promise<void> {
  asked.end();
  const refused = once(asked, "response").then(() => {
    throw new AppError("NOT_FOUND");
  });
  const opened = once(asked, "upgrade") as Promise<[IncomingMessage, Socket, Buffer]>;
  const [, socket, head] = await Promise.race([opened, refused]);
  if (head.length === 0) await once(socket, "data");
  socket.destroy();
}

function startOf(sessionId: string): InstanceStart {
  return {
    epoch: 0,
    sessionId,
    transport: "websocket",
    body: {},
    maxDurationMs: REHEARSE_MS,
    connectDeadlineMs: REHEARSE_MS,
    filter: null,
    connect: { kind: "socket" },
  };
}

function upgradeHeaders(): Record<string, string> {
  return {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"),
  };
}

async function nothing(): Promise<undefined> {
  return undefined;
}
