import { AppError } from "@vocalhost/protocol";
import { answerSocket, toAnswer } from "./answers.ts";
import { KEEP_ALIVE_MS, type ClientSocket } from "./client-socket.ts";
import type { InstanceRoute } from "@vocalhost/base/peers/controller-api";
import type { ControllerLink } from "./controller-link.ts";
import type { GatewayLimits, GatewayTiming } from "./gateway-options.ts";
import { headersForInstance, type RawHeaders } from "./headers.ts";
import { openInstanceSocket } from "./open-instance-socket.ts";
import { instanceFailure, isConnectFailure, routeQuestion } from "./relay-to-session.ts";
import type { RelayedSockets } from "./relayed-sockets.ts";
import { isReserved, type RequestPath, type SessionPath } from "./request-path.ts";
import type { SessionRoutes } from "./session-routes.ts";

export interface SocketRelay {
  controller: ControllerLink;
  routes: SessionRoutes;
  relayed: RelayedSockets;
  timing: GatewayTiming;
  limits: GatewayLimits;
}

/** The fields of a socket in the access log. */
export interface SocketEnd {
  status: number;
  sessionId?: string;
}

/** Relays a WebSocket to a route of the bot in a running session. */
export async function takeSessionSocket(
  relay: SocketRelay,
  client: ClientSocket,
  path: RequestPath & SessionPath,
): Promise<SocketEnd> {
  const question = routeQuestion(client.request, path);
  try {
    if (isReserved(path.rest)) throw new AppError("NOT_FOUND");
    const found = await relay.routes.find(question);
    if (found.kind === "refusal") {
      answerSocket(client.socket, path.raw, found.answer);
      return { status: found.answer.status };
    }
    return await connectAndRelay(relay, client, {
      route: found.route,
      path: `/sessions/${path.sessionId}${path.rest}${path.query}`,
      isPinged: false,
    });
  } catch (error) {
    if (isConnectFailure(error)) relay.routes.forget(question);
    const told = toAnswer(instanceFailure(error));
    answerSocket(client.socket, path.raw, told);
    return { status: told.status };
  }
}

export interface RelayTarget {
  route: InstanceRoute;
  path: string;
  isPinged: boolean;
}

/** Relays between a client and its instance until one of them leaves. Throws if the instance refuses. */
export async function connectAndRelay(
  relay: SocketRelay,
  client: ClientSocket,
  target: RelayTarget,
): Promise<SocketEnd> {
  const { timing, limits } = relay;
  const { sessionId, address, token } = target.route;
  try {
    if (client.gone.aborted) return { status: CLIENT_LEFT, sessionId };
    const instance = await openInstanceSocket({
      address,
      token,
      path: target.path,
      headers: socketHeaders(client.request.rawHeaders),
      protocols: client.isOpen ? [] : client.protocols,
      connectMs: timing.instanceConnectMs,
      upgradeMs: timing.instanceUpgradeMs,
      headBytes: limits.headBytes,
    }).catch((error: unknown) => {
      throw isConnectFailure(error) ? error : instanceFailure(error);
    });
    if (client.gone.aborted) {
      instance.socket.destroy();
      return { status: CLIENT_LEFT, sessionId };
    }
    instance.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (!client.isOpen) client.accept(instance.protocol);
    await relay.relayed.relay({
      client: client.socket,
      instance: instance.socket,
      fromClient: client.take(),
      fromInstance: instance.head,
      timing,
      relayBytes: limits.relayBytes,
      isPinged: target.isPinged,
    }).ended;
    return { status: 101, sessionId };
  } finally {
    relay.controller.tell("/internal/session-left", { sessionId });
  }
}

const CLIENT_LEFT = 499; // only in the access log

// The gateway makes the handshake itself. Other headers are kept, because a bot may need them to verify a carrier's
// signature.
function socketHeaders(raw: readonly string[]): RawHeaders {
  const cleaned = headersForInstance(raw);
  return cleaned.filter((_, index) => {
    const name = cleaned[index - (index % 2)]?.toLowerCase() ?? "";
    return !name.startsWith("sec-websocket-") && name !== "content-length";
  });
}
