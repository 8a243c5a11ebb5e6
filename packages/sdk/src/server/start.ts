import {
  AppError,
  isCarrier,
  limits,
  reservedTransportNames,
  StartRequest,
  transportNames,
  type CarrierName,
  type IceConfig,
  type StartAnswer,
  type TransportName,
} from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import { parseRequest } from "./error-replies.ts";
import type { SessionServer } from "./session-server.ts";

const DEFAULT_ICE_SERVERS: IceConfig = { iceServers: [{ urls: ["stun:stun.l.google.com:19302"] }] };

/** `POST /start`: the front door of every session. */
export function mountStartRoute(server: SessionServer): void {
  server.app.post(
    "/start",
    { config: { lenientBody: true } },
    async (request, reply): Promise<StartAnswer> => {
      const wish = parseRequest(StartRequest, request.body);
      const transport = chooseTransport(server, wish.transport ?? undefined);
      server.bot();
      if (transport !== "webrtc") requireSmallBody(wish.body);
      if (isCarrier(transport)) return carrierAnswer(server, request, transport, wish.body);
      const session = server.sessions.create({ transport, body: wish.body });
      reply.header("x-vocalhost-session-id", session.id);
      if (transport === "websocket") return socketAnswer(server, request, session.id);
      const iceConfig = iceConfigFor(server, wish.enableDefaultIceServers === true);
      return { sessionId: session.id, ...(iceConfig ? { iceConfig } : {}) };
    },
  );
}

function chooseTransport(server: SessionServer, wished: string | undefined): TransportName {
  const name = wished ?? server.onlyTransport ?? "webrtc";
  const known: string[] = [...transportNames, ...reservedTransportNames];
  if (!known.includes(name))
    throw new AppError("TRANSPORT_UNKNOWN", { message: `Unknown transport '${name}'.` });
  const only = server.onlyTransport;
  if (only && name !== only)
    throw new AppError("TRANSPORT_NOT_ALLOWED", {
      message: `Transport '${name}' is not allowed. Server is configured for '${only}' only (-t ${only}).`,
    });
  const transport = server.transports.find((accepted) => accepted === name);
  if (transport) return transport;
  throw new AppError("TRANSPORT_DISABLED", {
    message: `Transport '${name}' is disabled in this runner environment. Check the startup banner for enabled transports.`,
  });
}

// Hosted, this body travels in the socket's URL; the same limit here keeps surprises out of deployment.
function requireSmallBody(body: unknown): void {
  if (Buffer.byteLength(JSON.stringify(body ?? {})) <= limits.websocketStartBodyBytes) return;
  throw new AppError("PAYLOAD_TOO_LARGE", {
    message: `The start body of a websocket session may have ${limits.websocketStartBodyBytes} bytes at most`,
  });
}

// Released clients accept these two keys only; the session id travels in the header and in the address.
function socketAnswer(server: SessionServer, request: FastifyRequest, sessionId: string): StartAnswer {
  const wsUrl = `${server.socketBase(request)}/ws-client`;
  if (server.socketAuth === "token") return { wsUrl, token: server.tokens.issue(sessionId) };
  return { wsUrl: `${wsUrl}?session=${sessionId}` };
}

// A carrier's socket needs no session until it comes, unless there is something to remember for it.
function carrierAnswer(
  server: SessionServer,
  request: FastifyRequest,
  transport: CarrierName,
  body: unknown,
): StartAnswer {
  const wsUrl = `${server.socketBase(request)}/ws`;
  const needsToken = server.socketAuth === "token";
  if (!needsToken && (body === undefined || body === null)) return { wsUrl };
  const token = server.tokens.issue(server.sessions.create({ transport, body }).id);
  return needsToken ? { wsUrl, token } : { wsUrl: `${wsUrl}/${token}` };
}

function iceConfigFor(server: SessionServer, wantsDefaults: boolean): IceConfig | undefined {
  if (server.iceServers.length > 0) return { iceServers: server.iceServers };
  return wantsDefaults ? DEFAULT_ICE_SERVERS : undefined;
}
