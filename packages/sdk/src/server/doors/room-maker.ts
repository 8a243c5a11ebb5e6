import type { CallData } from "@vocalhost/carriers";
import type { RoomProviderName, RoomStarted } from "@vocalhost/protocol";

/** Whoever can make a room for a session. */
export interface RoomMaker {
  make(wanted: WantedRoom): Promise<RoomOfSession>;
  /** A place for one more bot in a room that there is already. */
  join(wanted: WantedRoom & { token: string }): Promise<RoomOfSession>;
  /** What webhooks of phone calls are read with; undefined where none may come. */
  readonly calls: { daily: CallReader; livekit: CallReader } | undefined;
}

/** Reads a webhook's request; undefined for what is no call. Throws what the provider is told. */
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
  /** What the client asked for: `room`, `livekit`, `daily`. */
  requested: string;
  sessionId: string;
  /** `ws://host` under which the client knows us. */
  reachedAs: string;
  roomProperties: unknown;
  tokenProperties: unknown;
}

export interface RoomOfSession {
  provider: RoomProviderName;
  roomName: string;
  /** What the client is told. */
  answer: RoomStarted;
  botRoomUrl: string;
  botToken: string;
  guestTokens: string[];
  /** Over which the bot may call somebody into the room. */
  sipTrunk: string | undefined;
  /** The room is another session's, and stays when this one ends. */
  isGuest: boolean;
  /** Connects the caller on hold with the room, at its own SIP address or another. */
  forwardCall?: ((sipUri?: string) => Promise<void>) | undefined;
  /** Sends everybody out of a room of our own. */
  close(): Promise<void>;
}
