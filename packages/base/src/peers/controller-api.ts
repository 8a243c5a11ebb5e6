// What the gateway asks a controller, over its private socket or over the network. Refusals are ordinary error answers
// (`{ error, code, detail }` with their status), which the gateway passes on as they are.
import { carrierNames } from "@vocalhost/protocol";
import { z } from "zod";

/** Where a session's instance is, and how to be let in. */
export const InstanceRoute = z.object({
  sessionId: z.string(),
  /** `host:port` */
  address: z.string(),
  /** Goes as `Authorization: Bearer` to the instance. */
  token: z.string(),
});
export type InstanceRoute = z.infer<typeof InstanceRoute>;

/** `POST /internal/session-route`: may this caller reach this session? Answers `InstanceRoute`. */
export const SessionRouteRequest = z.object({
  agent: z.string(),
  sessionId: z.string(),
  /** As the client sent it. */
  authorization: z.string().optional(),
});
export type SessionRouteRequest = z.infer<typeof SessionRouteRequest>;

/**
 * `POST /internal/socket-route`: a WebSocket has come. The token is used up, an instance claimed and the session
 * active before this is answered. Answers `SocketRoute`.
 */
export const SocketRouteRequest = z.object({
  ingress: z.enum(["generic", ...carrierNames]),
  /** `agent.organization`; a token names it too. */
  serviceHost: z.string().optional(),
  token: z.string().optional(),
  /** base64 of JSON, from `?body=` */
  body: z.string().optional(),
});
export type SocketRouteRequest = z.infer<typeof SocketRouteRequest>;

export const SocketRoute = InstanceRoute.extend({
  /** On the instance: `/ws-client/{sessionId}` or `/ws/{sessionId}`. */
  path: z.string(),
});
export type SocketRoute = z.infer<typeof SocketRoute>;

/** `POST /internal/session-left`: a socket's client or instance is gone; hastens what the controller would find. */
export const SessionLeft = z.object({ sessionId: z.string() });
export type SessionLeft = z.infer<typeof SessionLeft>;

// `POST /internal/gateway-figures`: `GatewayFigures` of `metrics/`, every few seconds.

/** `GET /internal/role`: one a line, now, on every change and every second. */
export const ControllerRole = z.object({ leads: z.boolean(), epoch: z.number() });
export type ControllerRole = z.infer<typeof ControllerRole>;
export const ROLE_EVERY_MS = 1_000;
