import type { RoomProviderName, RoomStarted } from "@vocalhost/protocol";

/** Whoever can make a room for a session. */
export interface RoomMaker {
  make(wanted: WantedRoom): Promise<RoomOfSession>;
  /** A room of a LiveKit server that is there already. */
  join(wanted: { roomName: string; sessionId: string }): Promise<RoomOfSession>;
  /** What a LiveKit server tells of a call that came into a room; undefined for anything else it tells. */
  readCall(told: { rawBody: string; authorization: string | undefined }): Promise<RoomCall | undefined>;
}

export interface RoomCall {
  roomName: string;
  identity: string;
  callId: string;
  from: string | null;
  to: string | null;
  attributes: Record<string, string>;
}

export interface WantedRoom {
  /** What the client asked for: `room`, `livekit`, `daily`. */
  requested: string;
  sessionId: string;
  /** `ws://host` under which the client knows us. */
  reachedAs: string;
  roomProperties: unknown;
  tokenProperties: unknown;
  /** A caller on hold at Daily, for whom the room is made. */
  call?: { from: string; callId: string; callDomain: string };
}

export interface RoomOfSession {
  provider: RoomProviderName;
  roomName: string;
  /** What the client is told. */
  answer: RoomStarted;
  botRoomUrl: string;
  botToken: string;
  guestTokens: string[];
  /** Connects the caller on hold with the room. */
  forwardCall?: (() => Promise<void>) | undefined;
  /** Sends everybody out. */
  close(): Promise<void>;
}
