import type { CarrierName, PeerId, RoomProviderName } from "@vocalhost/protocol";
import type { WebSocket } from "ws";
import type { CallData } from "@vocalhost/carriers";

/** Everything a bot is given. Where it runs and how the session was asked for is not among it. */
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
  /** Whose messages the socket carries: a client's, or a carrier's. */
  readonly transportType: "websocket" | CarrierName;
  /** Same as `transportType`. */
  readonly transport_type: "websocket" | CarrierName;
}

export interface RoomArguments extends CommonArguments {
  readonly kind: "room";
  /** What the bot connects to: a LiveKit server's address, or a Daily room's. */
  readonly roomUrl: string;
  /** Same as `roomUrl`. */
  readonly room_url: string;
  /** Lets the bot in; it owns the room. */
  readonly token: string;
  readonly roomName: string;
  /** Same as `roomName`. */
  readonly room_name: string;
  /** Who keeps the room. */
  readonly provider: RoomProviderName;
  /**
   * Connects a caller who is on hold at Daily with the room, once; undefined unless it was made for such a call, and
   * when hosted, where that is done for you.
   */
  readonly forwardCall: ((sipUri?: string) => Promise<void>) | undefined;
}

export interface CommonArguments {
  readonly sessionId: string;
  /** Same as `sessionId`. */
  readonly session_id: string;
  /** What the client sent along with its start request. */
  readonly body: unknown;
  /** Who calls whom; null unless the session is a phone call. */
  readonly callData: CallData | null;
  /** Same as `callData`. */
  readonly call_data: CallData | null;
  /** Flags the runner was started with, its own and the bot's; absent when hosted. */
  readonly cliArgs: Record<string, unknown> | undefined;
  /** Same as `cliArgs`. */
  readonly cli_args: Record<string, unknown> | undefined;
  /** Whether the bot has to look after the signal itself; runner and service do that, so it never has. */
  readonly handleSigint: boolean;
  /** Same as `handleSigint`. */
  readonly handle_sigint: boolean;
  /** Like `handleSigint`. */
  readonly handleSigterm: boolean;
  /** Same as `handleSigterm`. */
  readonly handle_sigterm: boolean;
  /** After so many seconds in which nobody speaks the session ends as `idle`; null: never. */
  readonly pipelineIdleTimeoutSecs: number | null;
  /** Same as `pipelineIdleTimeoutSecs`. */
  readonly pipeline_idle_timeout_secs: number | null;
  /** Aborts when the session must end: stopped, time is up, client gone, shutdown. `signal.reason` is a `SessionEnded`. */
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

/** Unless somebody says otherwise. */
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

// Aliases are getters off the enumerable list, so that a logged or spread object shows each value once.
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

/** A bot's connection to one browser. It survives the browser's reconnects, each with a peer of its own. */
export interface WebRtcConnection {
  /** Identifier of the newest peer. */
  readonly peerId: PeerId;
  readonly state: "connecting" | "connected" | "closed";
  on(event: keyof ConnectionEvents, listener: () => void): void;
  off(event: keyof ConnectionEvents, listener: () => void): void;
  /** Tells the client that the bot is gone and closes. */
  close(): void;
}

export interface ConnectionEvents {
  connected: () => void;
  disconnected: () => void;
  closed: () => void;
}
