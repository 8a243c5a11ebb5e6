import type { PeerAddress, PeerFiles } from "@vocalhost/base/peers/peer-config";

/** The options of `startGateway`, as the gateway's command passes them. */
export interface GatewayOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  controllers: ControllersOptions;
  /** The public origin, reported to the controller as protocol and host. @default from the request */
  publicUrl?: string;
  /**
   * A proxy of the operator is in front, so the last `x-forwarded-for` and its other `x-forwarded-*` are trusted.
   * @default false
   */
  trustForwarded?: boolean;
  log: GatewayLog;
  /** How often the supervisor has restarted the gateway. @default 0 */
  restarts?: number;
  timing?: Partial<GatewayTiming>;
  limits?: Partial<GatewayLimits>;
}

/** The unix socket of this machine's controller, or the addresses of remote controllers. */
export type ControllersOptions = { socket: string } | { addresses: PeerAddress[]; files: PeerFiles };

/** The methods of pino's logger that the gateway uses. */
export interface GatewayLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface GatewayTiming {
  /** A request waits this long for an unreachable controller. A restart is faster, and a standby leads within 5 s. */
  controllerAwayMs: number;
  controllerConnectMs: number;
  /** A waiting request retries at least this often. */
  controllerLookMs: number;
  /** Timeout for the head of the controller's answer; a cold start takes up to 60 s. */
  controllerAnswerMs: number;
  /** A cached session route is valid this long: a revoked key must stop working within a second. */
  routeFreshMs: number;
  instanceConnectMs: number;
  /** Timeout for the head of the instance's answer; an offer may wait for a bot that is still loading. */
  instanceAnswerMs: number;
  instanceUpgradeMs: number;
  /** A carrier that names the agent in its start message has this long to send it. */
  openingMs: number;
  /** A peer of a relayed socket that reads nothing for this long is disconnected. */
  stalledMs: number;
  /** Instances ping every 15 s; a peer that leaves two pings in a row unanswered is disconnected within 30 s. */
  silentMs: number;
  /** Time between the close frame and the end of the connection. */
  goodbyeMs: number;
  /** How long open calls may go on after the gateway is disposed. */
  disposeMs: number;
  headersMs: number;
  /** Timeout for a request's last byte; large builds are uploaded over slow lines. */
  requestMs: number;
  /** The same timeout, except for uploads and requests to a bot. */
  bodyMs: number;
  /** A body that takes longer counts against the limit of slow bodies per address. */
  slowBodyMs: number;
  keepAliveMs: number;
  /** A client that reads nothing of its answer for this long is disconnected. */
  idleMs: number;
}

export interface GatewayLimits {
  connections: number;
  /** Does not apply to this machine's own addresses, nor behind a trusted proxy. */
  connectionsPerAddress: number;
  slowBodiesPerAddress: number;
  headBytes: number;
  /** Buffer of a relayed socket for a slow reader, in each direction. */
  relayBytes: number;
  /** Limit for a carrier's opening messages, up to the one that names the agent. */
  openingBytes: number;
  /** Size of the cache of session routes. */
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
