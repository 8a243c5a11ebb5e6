import { AppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { createWebSocketArguments } from "../../bot/runner-arguments.ts";
import { keepEarlyMessages } from "../../transports/early-messages.ts";
import { prepareSocketVoice } from "../../transports/socket-voice.ts";
import type { Session } from "../session.ts";
import { admitSocket, type SocketRequest } from "../socket-admission.ts";
import type { Door, SessionHost } from "./door.ts";
import { tieToSocket } from "./socket-client.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The session a WebSocket was admitted to; null when none was started for it. */
    admittedSession: Session | null;
  }
}

/** `/ws-client` and `/ws-client/{token}`: a client's plain WebSocket becomes a session. */
export const websocketDoor: Door = {
  names: ["websocket"],
  paths: ["/ws-client", "/ws-client/"],
  // Released clients accept these two keys only; the session id is in the header and in the URL.
  async start({ server, request, transport, input }) {
    prepareSocketVoice();
    const { id: sessionId } = server.sessions.create({ transport, body: input.body });
    const wsUrl = `${server.socketBase(request)}/ws-client`;
    if (server.socketAuth === "token")
      return { sessionId, answer: { wsUrl, token: server.tokens.issue(sessionId) } };
    return { sessionId, answer: { wsUrl: `${wsUrl}?session=${sessionId}` } };
  },
  mount: mountClientSockets,
  expect: prepareSocketVoice,
  begin: async () => prepareSocketVoice(),
};

function mountClientSockets(server: SessionHost): void {
  server.app.decorateRequest("admittedSession", null);
  for (const path of ["/ws-client", "/ws-client/:token"]) {
    server.app.get<SocketRequest>(
      path,
      {
        websocket: true,
        config: { asksAdmission: true },
        // Runs before the upgrade, so that a refused client never gets a socket.
        preValidation: async (request) => {
          request.admittedSession = startedSession(server, request);
          prepareSocketVoice();
        },
      },
      (socket, request) => {
        // Created only now, so that a failed upgrade leaves no session behind.
        const session =
          request.admittedSession ?? server.sessions.create({ transport: "websocket", body: undefined });
        runOnSocket(server, session, socket);
      },
    );
  }
}

function startedSession(server: SessionHost, request: FastifyRequest<SocketRequest>): Session | null {
  const id = admitSocket(server, request) ?? request.query.session;
  if (id === undefined) return null;
  const session = server.sessions.get(id);
  if (session?.transport === "websocket" && session.state === "waiting") return session;
  throw new AppError("SESSION_NOT_FOUND", {
    message: "This session does not wait for a WebSocket: it is unknown, over or already connected",
  });
}

export function runOnSocket(
  server: Pick<SessionHost, "bot" | "cliArgs" | "idleTimeoutSecs">,
  session: Session,
  socket: WebSocket,
): void {
  tieToSocket(session, socket, { botFailed: () => socket.close(1011, "bot failed") });
  keepEarlyMessages(socket);
  session.run(
    server.bot(),
    createWebSocketArguments({
      sessionId: session.id,
      body: session.body,
      callData: null,
      cliArgs: server.cliArgs,
      idleTimeoutSecs: server.idleTimeoutSecs,
      signal: session.signal,
      websocket: socket,
      transportType: "websocket",
    }),
  );
}
