import type { WireFormat } from "@vocalhost/carriers";

/** How a bot's voice goes out over one WebSocket. */
export interface VoiceSettings {
  /** Of what the bot says. */
  sampleRateHz: number;
  /** Of what is sent. */
  wireHz: number;
  chunkMs: number;
  /** How far ahead of real time the other side is kept. */
  leadMs: number;
  /** How much of what was sent can be taken back. */
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

/** What the main thread asks of the pacing thread. `line` is a number the main thread chose. */
export type LineCommand =
  | { type: "open"; line: number; fd: number; settings: VoiceSettings }
  | { type: "audio"; line: number; samples: Int16Array }
  | { type: "clear"; line: number; era: number }
  | { type: "pause"; line: number; paused: boolean }
  | { type: "rewind"; line: number; era: number; playedSamples: number }
  /** Bytes as they are to be on the wire. */
  | { type: "bytes"; line: number; bytes: Uint8Array }
  /** Answered with `finished` when everything is on the wire. */
  | { type: "finish"; line: number }
  /** The socket is not touched any more once this is answered with `released`. */
  | { type: "release"; line: number };

export type LineEvent =
  /** Of the era of the last `clear` or `rewind` that the line knows of. */
  | { type: "progress"; line: number; era: number; playedSamples: number; isLast: boolean }
  | { type: "speaking"; line: number; speaking: boolean }
  | { type: "unread"; line: number; bytes: number }
  | { type: "failed"; line: number; error: string }
  | { type: "finished"; line: number }
  | { type: "released"; line: number };
