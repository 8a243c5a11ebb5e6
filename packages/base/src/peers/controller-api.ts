// Requests of the gateway to a controller, over its private socket or the network. Refusals are ordinary error
// answers (`{ error, code, detail }` with their status), which the gateway passes on unchanged.
import { carrierNames } from "@vocalhost/protocol";
import { z } from "zod";

/** The address of a session's instance, and the token it accepts. */
export const InstanceRoute = z.object({
  sessionId: z.string(),
  /** `host:port` */
  address: z.string(),
  /** Sent to the instance as `Authorization: Bearer`. */
  token: z.string(),
});
export type InstanceRoute = z.infer<typeof InstanceRoute>;

/** `POST /internal/session-route`: may this caller reach this session? Answers `InstanceRoute`. */
export const SessionRouteRequest = z.object({
  agent: z.string(),
  sessionId: z.string(),
  /** The client's header, unchanged. */
  authorization: z.string().optional(),
});
export type SessionRouteRequest = z.infer<typeof SessionRouteRequest>;

/**
 * `POST /internal/socket-route`: a WebSocket was opened. Before the controller answers, it uses up the token, claims
 * an instance and makes the session active. Answers `SocketRoute`.
 */
export const SocketRouteRequest = z.object({
  ingress: z.enum(["generic", ...carrierNames]),
  /** `agent.organization`; a token implies it. */
  serviceHost: z.string().optional(),
  token: z.string().optional(),
  /** base64 of JSON, from `?body=` */
  body: z.string().optional(),
});
export type SocketRouteRequest = z.infer<typeof SocketRouteRequest>;

export const SocketRoute = InstanceRoute.extend({
  /** Path on the instance: `/ws-client/{sessionId}` or `/ws/{sessionId}`. */
  path: z.string(),
});
export type SocketRoute = z.infer<typeof SocketRoute>;

/**
 * `POST /internal/session-left`: a socket lost its client or instance. The controller would notice later by itself.
 */
export const SessionLeft = z.object({ sessionId: z.string() });
export type SessionLeft = z.infer<typeof SessionLeft>;

// `POST /internal/gateway-figures`: `GatewayFigures` of `metrics/`, every few seconds.

/** `GET /internal/role`: one JSON object a line, sent immediately, on every change and every second. */
export const ControllerRole = z.object({ leads: z.boolean(), epoch: z.number() });
export type ControllerRole = z.infer<typeof ControllerRole>;
export const ROLE_EVERY_MS = 1_000;
