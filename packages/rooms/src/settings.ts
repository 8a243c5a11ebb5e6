import type { Log } from "./log.ts";
import type { TurnConfig } from "./turn.ts";

export interface RoomServerOptions {
  /** Name and secret of the key that signs access tokens. */
  apiKey: string;
  apiSecret: string;
  /** Where it listens; `false` when another server hands it requests. @default 127.0.0.1:7880 */
  listen?: ListenAddress | false;
  /** The address participants connect to, if it differs from the one the server listens on. */
  publicUrl?: string;
  bots?: BotDoor;
  media?: MediaOptions;
  /** STUN and TURN servers that participants are told of. */
  iceServers?: IceServerSetting[];
  /** TURN servers that participants get credentials for. */
  turn?: TurnConfig;
  /** Tokens must carry this audience. @default none is asked for */
  audience?: string;
  /** Tokens from before a room was deleted do not open it again, as they do with LiveKit. @default false */
  keepsDeletedClosed?: boolean;
  limits?: Partial<RoomLimits>;
  timing?: Partial<RoomTiming>;
  /** @default nothing is logged */
  log?: Log;
}

export interface ListenAddress {
  host?: string;
  /** 0 takes any free port. */
  port?: number;
}

/**
 * A way in for bots that see this machine from a network of its own, such as the bridge of a container engine. It leads
 * to rooms and to nothing else; who comes this way is told to send media to the address it came to.
 */
export interface BotDoor {
  /** Addresses of this machine, which it may not have yet. Connections to other addresses are closed. */
  addresses: string[];
  port: number;
}

export interface MediaOptions {
  /** One UDP port carries all media; 0 takes any free one. @default 7882 */
  udpPort?: number;
  /** @default every address of the machine */
  bindAddress?: string;
  /** Public address to announce instead of the machine's own. */
  announcedAddress?: string;
  /** Contact private and loopback addresses that participants name. @default false */
  allowPrivateCandidates?: boolean;
}

export interface IceServerSetting {
  urls: string[];
  username?: string;
  credential?: string;
}

export interface RoomLimits {
  rooms: number;
  participantsPerRoom: number;
  tracksPerParticipant: number;
  /** One data packet, and one message of a data channel. */
  dataBytes: number;
  dataPacketsPerSecond: number;
  signalMessageBytes: number;
  signalMessagesPerSecond: number;
  requestBytes: number;
  metadataBytes: number;
  attributesBytes: number;
  nameCharacters: number;
}

export const DEFAULT_LIMITS: RoomLimits = {
  rooms: 100,
  participantsPerRoom: 50, // every one more is heard by all the others: the work grows with the square
  tracksPerParticipant: 16,
  dataBytes: 65_536,
  dataPacketsPerSecond: 2_000,
  signalMessageBytes: 512 * 1024,
  signalMessagesPerSecond: 200,
  requestBytes: 1024 * 1024,
  metadataBytes: 64_000,
  attributesBytes: 64_000,
  nameCharacters: 256,
};

export interface RoomTiming {
  /** A room without any participant is closed after this. */
  emptyTimeoutS: number;
  /** A room is closed this long after the last participant has left. */
  departureTimeoutS: number;
  /** How long a participant that lost its socket may come back. */
  resumeMs: number;
  /** How long a participant may take to get its media connected. */
  connectMs: number;
  pingIntervalS: number;
  pingTimeoutS: number;
  tokenRefreshMs: number;
  levelIntervalMs: number;
}

export const DEFAULT_TIMING: RoomTiming = {
  emptyTimeoutS: 300,
  departureTimeoutS: 20,
  resumeMs: 15_000,
  connectMs: 30_000,
  pingIntervalS: 5,
  pingTimeoutS: 15,
  tokenRefreshMs: 5 * 60_000,
  levelIntervalMs: 400,
};

/** Settings of rooms and participants. */
export interface RoomSettings {
  apiKey: string;
  apiSecret: string;
  audience: string | undefined;
  iceServers: IceServerSetting[];
  turn: TurnConfig | undefined;
  keepsDeletedClosed: boolean;
  limits: RoomLimits;
  timing: RoomTiming;
}

/** Completes a refusal for want of capacity. */
export const USE_LIVEKIT = "for larger rooms configure a LiveKit server (LIVEKIT_URL)";
