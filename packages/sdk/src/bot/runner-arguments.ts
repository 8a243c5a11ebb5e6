import type { CarrierName, PeerId, RoomProviderName } from "@vocalhost/protocol";
import type { WebSocket } from "ws";
import type { CallData } from "@vocalhost/carriers";

/** The arguments of a bot. They do not reveal where it runs or how the session was requested. */
export type RunnerArguments = WebRtcArguments | WebSocketArguments | RoomArguments;

export interface WebRtcArguments extends CommonArguments {
  readonly kind: "webrtc";
  readonly webrtcConnection: WebRtcConnection;
  /** Same as `webrtcConnection`. */
  readonly webrtc_connection: WebRtcConnection;
}

export interface WebSocketArguments extends CommonArguments {
  readonly kind: "websocket";
  readonly websocket: WebSocket;
  /** Origin of the socket's messages: a client or a carrier. */
  readonly transportType: "websocket" | CarrierName;
  /** Same as `transportType`. */
  readonly transport_type: "websocket" | CarrierName;
}

export interface RoomArguments extends CommonArguments {
  readonly kind: "room";
  /** URL of the LiveKit server, or of the Daily room. */
  readonly roomUrl: string;
  /** Same as `roomUrl`. */
  readonly room_url: string;
  /** Token with which the bot joins; it owns the room. */
  readonly token: string;
  readonly roomName: string;
  /** Same as `roomName`. */
  readonly room_name: string;
  /** Provider that hosts the room. */
  readonly provider: RoomProviderName;
  /**
   * Connects a caller who is on hold at Daily with the room, once. Undefined unless the room was created for such
   * a call, and in the hosted service, which does it for you.
   */
  readonly forwardCall: ((sipUri?: string) => Promise<void>) | undefined;
}

export interface CommonArguments {
  readonly sessionId: string;
  /** Same as `sessionId`. */
  readonly session_id: string;
  /** Data from the client's start request. */
  readonly body: unknown;
  /** Caller and callee; null unless the session is a phone call. */
  readonly callData: CallData | null;
  /** Same as `callData`. */
  readonly call_data: CallData | null;
  /** Flags of the runner's command line, including the bot's own; undefined in the hosted service. */
  readonly cliArgs: Record<string, unknown> | undefined;
  /** Same as `cliArgs`. */
  readonly cli_args: Record<string, unknown> | undefined;
  /** Whether the bot must handle the signal itself; always false, since runner and service do. */
  readonly handleSigint: boolean;
  /** Same as `handleSigint`. */
  readonly handle_sigint: boolean;
  /** Like `handleSigint`. */
  readonly handleSigterm: boolean;
  /** Same as `handleSigterm`. */
  readonly handle_sigterm: boolean;
  /** Seconds of silence after which the session ends as `idle`; null: never. */
  readonly pipelineIdleTimeoutSecs: number | null;
  /** Same as `pipelineIdleTimeoutSecs`. */
  readonly pipeline_idle_timeout_secs: number | null;
  /**
   * Aborts when the session must end: stopped, time is up, client gone, shutdown. `signal.reason` is a
   * `SessionEnded`.
   */
  readonly signal: AbortSignal;
}

export interface CommonFields {
  sessionId: string;
  body: unknown;
  callData: CallData | null;
  cliArgs: Record<string, unknown> | undefined;
  /** @default 300 */
  idleTimeoutSecs?: number | null;
  signal: AbortSignal;
}

/** The default of `pipelineIdleTimeoutSecs`. */
export const IDLE_TIMEOUT_SECS = 300;

export function createWebRtcArguments(
  fields: CommonFields & { webrtcConnection: WebRtcConnection },
): WebRtcArguments {
  return withAliases({ kind: "webrtc", ...fields }) as WebRtcArguments;
}

export function createWebSocketArguments(
  fields: CommonFields & { websocket: WebSocket; transportType: "websocket" | CarrierName },
): WebSocketArguments {
  return withAliases({ kind: "websocket", ...fields }) as WebSocketArguments;
}

export function createRoomArguments(
  fields: CommonFields & Pick<RoomArguments, "roomUrl" | "token" | "roomName" | "provider" | "forwardCall">,
): RoomArguments {
  return withAliases({ kind: "room", ...fields }) as RoomArguments;
}

const ALIASES = {
  session_id: "sessionId",
  call_data: "callData",
  cli_args: "cliArgs",
  webrtc_connection: "webrtcConnection",
  transport_type: "transportType",
  room_url: "roomUrl",
  room_name: "roomName",
  handle_sigint: "handleSigint",
  handle_sigterm: "handleSigterm",
  pipeline_idle_timeout_secs: "pipelineIdleTimeoutSecs",
} as const;

// Aliases are non-enumerable getters, so that a logged or spread object has each value once.
function withAliases({ idleTimeoutSecs = IDLE_TIMEOUT_SECS, ...fields }: Record<string, unknown>): object {
  const args: Record<string, unknown> = {
    ...fields,
    handleSigint: false,
    handleSigterm: false,
    pipelineIdleTimeoutSecs: idleTimeoutSecs,
  };
  for (const [alias, name] of Object.entries(ALIASES)) {
    if (name in args) Object.defineProperty(args, alias, { get: () => args[name], enumerable: false });
  }
  return args;
}

/** A bot's connection to one browser. It survives reconnects of the browser, each with a new peer. */
export interface WebRtcConnection {
  /** Identifier of the newest peer. */
  readonly peerId: PeerId;
  readonly state: "connecting" | "connected" | "closed";
  on(event: keyof ConnectionEvents, listener: () => void): void;
  off(event: keyof ConnectionEvents, listener: () => void): void;
  /** Sends a close message to the client and closes the connection. */
  close(): void;
}

export interface ConnectionEvents {
  connected: () => void;
  disconnected: () => void;
  closed: () => void;
}
