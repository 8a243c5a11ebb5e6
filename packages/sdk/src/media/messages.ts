import type { IceCandidate, IceServer } from "@vocalhost/protocol";

/** Commands of the main thread to the media thread. The main thread chooses the numbers in `connection`. */
export type MediaCommand =
  | {
      type: "offer";
      connection: number;
      request: number;
      sdp: string;
      rebuild: boolean;
      iceServers: IceServer[];
    }
  /** The answer to the offer is being sent to the client. */
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

/** Events that the media thread reports to the main thread. */
export type MediaEvent =
  | { type: "answer"; connection: number; request: number; sdp: string }
  | { type: "offer-refused"; connection: number; request: number; reason: string; isOurFault?: boolean }
  | { type: "connected"; connection: number }
  | { type: "disconnected"; connection: number }
  | { type: "channel-open"; connection: number }
  /** With `unreadBytes` the client was dropped because it did not read them. */
  | { type: "closed"; connection: number; reason: CloseReason; unreadBytes?: number }
  | { type: "audio"; connection: number; samples: Int16Array }
  | { type: "message"; connection: number; text: string }
  | { type: "played"; connection: number; generation: number; samples: number }
  | { type: "speaking"; connection: number; speaking: boolean };

/** A failure in the media thread, which continues. */
export interface MediaProblem {
  error: string;
}

/** The media thread changed Opus' complexity because of its utilization. */
export interface MediaEffort {
  complexity: number;
  busyPercent: number;
  connections: number;
}

export type CloseReason = "client-left" | "client-lost" | "never-connected" | "requested";

/** The addresses and port by which clients reach us. */
export interface MediaReach {
  /** One UDP port for every connection. @default any, another for each */
  port: number | undefined;
  /** Addresses announced to clients instead of our own; empty: our own. */
  addresses: string[];
}

export interface MediaWorkerData {
  opusComplexity: number;
  reach: MediaReach;
  timing: MediaTiming;
}

/** Deadlines of a connection, in one place so that tests can shorten them. */
export interface MediaTiming {
  /** A peer that has not connected by then is dropped. */
  connectMs: number;
  /** Silence, without even a ping, after which the client counts as gone. Browsers need about 11 s to reconnect. */
  lostMs: number;
  /** How long the answer may wait for STUN and TURN candidates. */
  gatherMs: number;
}

export const DEFAULT_MEDIA_TIMING: MediaTiming = { connectMs: 60_000, lostMs: 25_000, gatherMs: 2_000 };
