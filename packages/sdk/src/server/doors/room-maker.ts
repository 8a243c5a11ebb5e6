import type { RoomProviderName, RoomStarted } from "@vocalhost/protocol";

/** Whoever can make a room for a session. */
export interface RoomMaker {
  make(wanted: WantedRoom): Promise<RoomOfSession>;
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
  /** Sends everybody out. */
  close(): Promise<void>;
}
