import type { PeerAddress, PeerFiles } from "@vocalhost/base/peers/peer-config";

/** What the gateway's command passes to `startGateway`. */
export interface GatewayOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  controllers: ControllersOptions;
  /** As callers see us; what the controller is told about protocol and host. @default what the request says */
  publicUrl?: string;
  /** A proxy of the operator's stands in front, so the last `x-forwarded-for` and its other `x-forwarded-*` are true. @default false */
  trustForwarded?: boolean;
  log: GatewayLog;
  /** How often the supervisor has started it again. @default 0 */
  restarts?: number;
  timing?: Partial<GatewayTiming>;
  limits?: Partial<GatewayLimits>;
}

/** Path of the unix socket that the controller of this machine listens on, or where those of others are. */
export type ControllersOptions = { socket: string } | { addresses: PeerAddress[]; files: PeerFiles };

/** The part of pino's logger the gateway uses. */
export interface GatewayLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface GatewayTiming {
  /** A request waits this long for a controller that is away: a restart takes less, and another one leads within 5 s. */
  controllerAwayMs: number;
  controllerConnectMs: number;
  /** A request that waits for a controller looks again this often, whatever it hears. */
  controllerLookMs: number;
  /** Until the head of the controller's answer; a cold start takes up to 60 s. */
  controllerAnswerMs: number;
  /** A cached session route is believed this long: a revoked key must stop working within a second. */
  routeFreshMs: number;
  instanceConnectMs: number;
  /** Until the head of the instance's answer; an offer may wait for a bot that is still loading. */
  instanceAnswerMs: number;
  instanceUpgradeMs: number;
  /** A carrier that names the agent in its start message has this long to send it. */
  openingMs: number;
  /** A peer of a spliced socket that takes nothing for this long is given up. */
  stalledMs: number;
  /** Instances ping every 15 s; whoever leaves two in a row unanswered is given up before 30 s are over. */
  silentMs: number;
  /** Between saying goodbye and cutting the connection. */
  goodbyeMs: number;
  /** How long open calls may go on when the gateway is disposed. */
  disposeMs: number;
  headersMs: number;
  /** Until a request's last byte; a large build is uploaded over a slow line. */
  requestMs: number;
  /** The same for everything but uploads and what goes to a bot. */
  bodyMs: number;
  /** A body that takes longer is one of the few an address may have. */
  slowBodyMs: number;
  keepAliveMs: number;
  /** A client that leaves an answer lying this long is cut off. */
  idleMs: number;
}

export interface GatewayLimits {
  connections: number;
  /** Not for this machine's own addresses, nor behind a trusted proxy. */
  connectionsPerAddress: number;
  slowBodiesPerAddress: number;
  headBytes: number;
  /** What a spliced socket may hold for a slow reader, each way. */
  relayBytes: number;
  /** Opening messages of a carrier, up to the one that names the agent. */
  openingBytes: number;
  /** Session routes remembered at once. */
  routes: number;
}

export const defaultGatewayTiming: GatewayTiming = {
  controllerAwayMs: 6_000,
  controllerConnectMs: 2_000,
  controllerLookMs: 1_000,
  controllerAnswerMs: 90_000,
  routeFreshMs: 1_000,
  instanceConnectMs: 5_000,
  instanceAnswerMs: 120_000,
  instanceUpgradeMs: 10_000,
  openingMs: 10_000,
  stalledMs: 30_000,
  silentMs: 25_000,
  goodbyeMs: 2_000,
  disposeMs: 5_000,
  headersMs: 15_000,
  requestMs: 900_000,
  bodyMs: 10_000,
  slowBodyMs: 1_000,
  keepAliveMs: 65_000,
  idleMs: 60_000,
};

export const defaultGatewayLimits: GatewayLimits = {
  connections: 10_000,
  connectionsPerAddress: 1_000,
  slowBodiesPerAddress: 64,
  headBytes: 16 * 1024,
  relayBytes: 1024 * 1024,
  openingBytes: 64 * 1024,
  routes: 10_000,
};
