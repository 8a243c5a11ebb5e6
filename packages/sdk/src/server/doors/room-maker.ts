import type { CallData } from "@vocalhost/carriers";
import type { RoomProviderName, RoomStarted } from "@vocalhost/protocol";

/** Creates rooms for sessions. */
export interface RoomMaker {
  make(wanted: WantedRoom): Promise<RoomOfSession>;
  /** Returns a token for one more bot in an existing room. */
  join(wanted: WantedRoom & { token: string }): Promise<RoomOfSession>;
  /** Readers for webhooks of phone calls; undefined where calls cannot arrive. */
  readonly calls: { daily: CallReader; livekit: CallReader } | undefined;
}

/** Reads a webhook; returns undefined if it reports no call. Throws the error to answer with. */
export type CallReader = (told: {
  rawBody: string;
  headers: Record<string, string | string[] | undefined>;
}) => Promise<ReadCall | undefined>;

export interface ReadCall {
  callId: string;
  body: object;
  callData: CallData;
  open(sessionId: string): Promise<RoomOfSession>;
}

export interface WantedRoom {
  /** The transport the client asked for: `room`, `livekit` or `daily`. */
  requested: string;
  sessionId: string;
  /** `ws://host` as the client reached this server. */
  reachedAs: string;
  roomProperties: unknown;
  tokenProperties: unknown;
}

export interface RoomOfSession {
  provider: RoomProviderName;
  roomName: string;
  /** The client's answer. */
  answer: RoomStarted;
  botRoomUrl: string;
  botToken: string;
  guestTokens: string[];
  /** SIP trunk for calling phones into the room. */
  sipTrunk: string | undefined;
  /** Whether the room belongs to another session, and outlives this one. */
  isGuest: boolean;
  /** Connects the caller on hold with the room, at its own SIP address or another. */
  forwardCall?: ((sipUri?: string) => Promise<void>) | undefined;
  /** Removes all participants from a room of our own. */
  close(): Promise<void>;
}
