import { AppError } from "@vocalhost/protocol";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type {
  InstanceRoute,
  SessionRouteRequest,
  SocketRoute,
  SocketRouteRequest,
} from "@vocalhost/base/peers/controller-api";

/** A controller's private socket whose answers a test sets. */
export interface FakeController extends AsyncDisposable {
  /** Requests in order; reports of figures are left out. */
  readonly asked: { path: string; body: unknown }[];
  /** Throws an `AppError` to refuse. */
  sessionRoute: (question: SessionRouteRequest) => InstanceRoute | Promise<InstanceRoute>;
  socketRoute: (question: SocketRouteRequest) => SocketRoute | Promise<SocketRoute>;
  /** Serves everything outside the private interface. */
  serve: (request: IncomingMessage, response: ServerResponse) => void;
  start(): Promise<void>;
  /** Destroys every connection, as a crash would. */
  kill(): Promise<void>;
}

export async function startFakeController(socketPath: string): Promise<FakeController> {
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  const controller: FakeController = {
    asked: [],
    sessionRoute: () => {
      throw new AppError("NOT_FOUND");
    },
    socketRoute: () => {
      throw new AppError("TOKEN_INVALID");
    },
    serve: (_request, response) => void response.writeHead(404).end("{}"),
    async start() {
      server = createServer((request, response) => void take(controller, request, response));
      server.on("connection", (socket: Socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      });
      server.listen(socketPath);
      await once(server, "listening");
    },
    async kill() {
      if (!server) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      server = undefined;
    },
    async [Symbol.asyncDispose]() {
      await controller.kill();
    },
  };
  await controller.start();
  return controller;
}

async function take(controller: FakeController, request: IncomingMessage, response: ServerResponse) {
  const path = request.url ?? "";
  if (!path.startsWith("/internal/")) return controller.serve(request, response);
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body = JSON.parse(text) as unknown;
  if (path !== "/internal/gateway-figures") controller.asked.push({ path, body });
  try {
    const told =
      path === "/internal/session-route"
        ? await controller.sessionRoute(body as SessionRouteRequest)
        : path === "/internal/socket-route"
          ? await controller.socketRoute(body as SocketRouteRequest)
          : {};
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(told));
  } catch (error) {
    const known = error instanceof AppError ? error : new AppError("INTERNAL_SERVER_ERROR");
    response
      .writeHead(known.status, {
        "content-type": "application/json",
        ...(known.retryable ? { "retry-after": "7" } : {}),
      })
      .end(JSON.stringify(known.toBody()));
  }
}
