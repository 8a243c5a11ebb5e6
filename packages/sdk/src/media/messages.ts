import type { IceCandidate, IceServer } from "@vocalhost/protocol";

/** What the main thread asks of the media thread. `connection` is a number the main thread chose. */
export type MediaCommand =
  | {
      type: "offer";
      connection: number;
      request: number;
      sdp: string;
      rebuild: boolean;
      iceServers: IceServer[];
    }
  /** The client is being told the answer to its offer. */
  | { type: "answered"; connection: number }
  | { type: "candidates"; connection: number; candidates: IceCandidate[] }
  | { type: "attach"; connection: number; rates: MediaRates }
  | { type: "audio"; connection: number; samples: Int16Array }
  | { type: "clear"; connection: number; generation: number }
  | { type: "pause"; connection: number; paused: boolean }
  | { type: "message"; connection: number; text: string }
  | { type: "close"; connection: number; sayGoodbye: boolean };

export interface MediaRates {
  inputHz: number;
  outputHz: number;
  maxQueuedMs: number;
}

/** What the media thread tells the main thread. */
export type MediaEvent =
  | { type: "answer"; connection: number; request: number; sdp: string }
  | { type: "offer-refused"; connection: number; request: number; reason: string; isOurFault?: boolean }
  | { type: "connected"; connection: number }
  | { type: "disconnected"; connection: number }
  | { type: "channel-open"; connection: number }
  /** With `unreadBytes` the client was given up for not reading them. */
  | { type: "closed"; connection: number; reason: CloseReason; unreadBytes?: number }
  | { type: "audio"; connection: number; samples: Int16Array }
  | { type: "message"; connection: number; text: string }
  | { type: "played"; connection: number; generation: number; samples: number }
  | { type: "speaking"; connection: number; speaking: boolean };

/** Something in the media thread failed and it goes on. */
export interface MediaProblem {
  error: string;
}

/** The media thread changed how hard Opus works, because of how busy it is. */
export interface MediaEffort {
  complexity: number;
  busyPercent: number;
  connections: number;
}

export type CloseReason = "client-left" | "client-lost" | "never-connected" | "requested";

/** How clients reach us. */
export interface MediaReach {
  /** One UDP port for every connection. @default any, another for each */
  port: number | undefined;
  /** What clients are told instead of our own addresses; empty: our own. */
  addresses: string[];
}

export interface MediaWorkerData {
  opusComplexity: number;
  reach: MediaReach;
  timing: MediaTiming;
}

/** Deadlines of a connection, in one place so that tests can compress time. */
export interface MediaTiming {
  /** A peer that has not connected by then is dropped. */
  connectMs: number;
  /** Nothing heard for this long, not even a ping: the client is gone. Browsers need about 11 s to reconnect. */
  lostMs: number;
  /** How long the answer may wait for STUN and TURN candidates. */
  gatherMs: number;
}

export const DEFAULT_MEDIA_TIMING: MediaTiming = { connectMs: 60_000, lostMs: 25_000, gatherMs: 2_000 };
