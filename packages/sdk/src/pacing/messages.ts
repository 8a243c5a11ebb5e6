import type { WireFormat } from "@vocalhost/carriers";

/** How a bot's voice is sent over one WebSocket. */
export interface VoiceSettings {
  /** Sample rate of the bot's audio. */
  sampleRateHz: number;
  /** Sample rate of the sent audio. */
  wireHz: number;
  chunkMs: number;
  /** How far the other side's buffer is kept ahead of real time. */
  leadMs: number;
  /** How much sent audio can be taken back. */
  rewindMs: number;
  maxQueuedMs: number;
  /** Beyond this the other side counts as not reading. */
  unreadMaxBytes: number;
  format: VoiceFormat;
}

export type VoiceFormat =
  /** Protobuf frames. */
  | { kind: "frames" }
  /** A carrier's messages: text around the audio. */
  | { kind: "carrier"; wire: WireFormat; before: string; after: string };

/** Commands of the main thread to the pacing thread. The main thread chooses the numbers in `line`. */
export type LineCommand =
  | { type: "open"; line: number; fd: number; settings: VoiceSettings }
  | { type: "audio"; line: number; samples: Int16Array }
  | { type: "clear"; line: number; era: number }
  | { type: "pause"; line: number; paused: boolean }
  | { type: "rewind"; line: number; era: number; playedSamples: number }
  /** Bytes exactly as they go on the wire. */
  | { type: "bytes"; line: number; bytes: Uint8Array }
  /** Answered with `finished` when everything is on the wire. */
  | { type: "finish"; line: number }
  /** Answered with `released`, after which the socket is no longer touched. */
  | { type: "release"; line: number };

export type LineEvent =
  /** Belongs to the era of the last `clear` or `rewind` that the line has processed. */
  | { type: "progress"; line: number; era: number; playedSamples: number; isLast: boolean }
  | { type: "speaking"; line: number; speaking: boolean }
  | { type: "unread"; line: number; bytes: number }
  | { type: "failed"; line: number; error: string }
  | { type: "finished"; line: number }
  | { type: "released"; line: number };
