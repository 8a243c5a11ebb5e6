import { AppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { createWebSocketArguments } from "../runner-arguments.ts";
import { keepEarlyMessages } from "../transports/early-messages.ts";
import type { SessionServer } from "./session-server.ts";
import type { Session } from "./session.ts";
import { watchSocket } from "./watch-socket.ts";

interface SocketRequest {
  Params: { token?: string };
  Querystring: { token?: string; session?: string };
}

declare module "fastify" {
  interface FastifyRequest {
    /** The session a WebSocket was admitted to. */
    admittedSession: Session | null;
  }
}

/** `/ws-client` and `/ws-client/{token}`: a client's plain WebSocket becomes a session. */
export function mountSocketRoutes(server: SessionServer): void {
  if (!server.transports.includes("websocket")) return;
  server.app.decorateRequest("admittedSession", null);
  for (const path of ["/ws-client", "/ws-client/:token"]) {
    server.app.get<SocketRequest>(
      path,
      {
        websocket: true,
        // Before the upgrade: whoever is refused here never gets a socket.
        preValidation: async (request) => {
          request.admittedSession = admit(server, request);
        },
      },
      (socket, request) => {
        if (request.admittedSession) runOnSocket(server, request.admittedSession, socket);
        else socket.close(1011);
      },
    );
  }
}

function admit(server: SessionServer, request: FastifyRequest<SocketRequest>): Session {
  const redeemed = server.socketAuth === "token" ? server.tokens.redeem(tokenOf(request)) : undefined;
  if (server.socketAuth === "token" && !redeemed) throw new AppError("TOKEN_INVALID");
  server.checkOrigin(request);
  server.bot();
  const id = redeemed ?? request.query.session;
  if (id === undefined) return server.sessions.create({ transport: "websocket", body: undefined });
  const session = server.sessions.get(id);
  if (session?.transport === "websocket" && session.state === "waiting") return session;
  throw new AppError("SESSION_NOT_FOUND", {
    message: "This session does not wait for a WebSocket: it is unknown, over or already connected",
  });
}

function tokenOf(request: FastifyRequest<SocketRequest>): string | undefined {
  const bearer = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "");
  return request.params.token ?? bearer?.[1] ?? request.query.token;
}

function runOnSocket(server: SessionServer, session: Session, socket: WebSocket): void {
  socket.on("error", (error) => session.log.debug({ reason: error.message }, "socket error"));
  socket.once("close", () => void session.end("client-left"));
  watchSocket(socket);
  keepEarlyMessages(socket);
  session.signal.addEventListener("abort", () => socket.close(1000), { once: true });
  session.run(
    server.bot(),
    createWebSocketArguments({
      sessionId: session.id,
      body: session.body,
      callData: null,
      cliArgs: server.cliArgs,
      signal: session.signal,
      websocket: socket,
      transportType: "websocket",
    }),
  );
}
