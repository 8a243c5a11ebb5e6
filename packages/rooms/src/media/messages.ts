// Messages between the rooms and the media process: plain data only.

/** One participant's two connections; the participant's sid. */
export type PeerId = string;
export type TrackSid = string;

/** `publisher` carries what the participant sends, `subscriber` what it receives. */
export type ConnectionSide = "publisher" | "subscriber";
export type MediaKind = "audio" | "video";
export type DataKind = "reliable" | "lossy";

export type MediaCommand =
  /** `address`: what this one is told instead of what all are. */
  | { type: "open"; peer: PeerId; address?: string | undefined }
  | { type: "publisher-offer"; peer: PeerId; offerId: number; sdp: string; tracks: PublishedSection[] }
  | { type: "subscriber-answer"; peer: PeerId; offerId: number; sdp: string }
  | { type: "candidate"; peer: PeerId; side: ConnectionSide; candidate: string; mid: string }
  | { type: "subscribe"; peer: PeerId; track: TrackSid; streamId: string }
  | { type: "unsubscribe"; peer: PeerId; track: TrackSid }
  | { type: "unpublish"; track: TrackSid }
  | { type: "set-muted"; track: TrackSid; muted: boolean }
  | { type: "pause"; peer: PeerId; track: TrackSid; paused: boolean }
  | { type: "send-data"; peers: PeerId[]; kind: DataKind; bytes: Uint8Array }
  | { type: "resume"; peer: PeerId }
  | { type: "close"; peer: PeerId };

/** A media section of a publisher's offer that carries a track the room knows. */
export interface PublishedSection {
  mid: string;
  track: TrackSid;
  /** Opus may stop sending in silence. */
  dtx: boolean;
  stereo: boolean;
}

export type MediaEvent =
  | { type: "publisher-answer"; peer: PeerId; offerId: number; sdp: string }
  | {
      type: "subscriber-offer";
      peer: PeerId;
      offerId: number;
      sdp: string;
      midToTrack: Record<string, TrackSid>;
    }
  | { type: "subscribed"; peer: PeerId; track: TrackSid }
  | { type: "connection-state"; peer: PeerId; side: ConnectionSide; state: ConnectionState }
  | { type: "data"; peer: PeerId; kind: DataKind; bytes: Uint8Array }
  | { type: "levels"; levels: TrackLevel[] }
  | { type: "losses"; losses: TrackLoss[] }
  | { type: "refused"; peer: PeerId; reason: string }
  | { type: "full"; peer: PeerId; reason: string }
  | { type: "problem"; error: string };

export type ConnectionState = "connected" | "disconnected" | "failed" | "closed";

/** How loud a track was in one interval. */
export interface TrackLevel {
  track: TrackSid;
  /** Packets of the interval that were loud enough for speech, and all of them. */
  loudPackets: number;
  packets: number;
  /** Mean of the loud packets, in dB below full scale: 0 is the loudest. */
  loudness: number;
}

export interface TrackLoss {
  track: TrackSid;
  /** 0 to 1. */
  lostShare: number;
}

export interface MediaSettings {
  /** One UDP port for all connections. */
  udpPort: number;
  /** Address to bind. @default every address */
  bindAddress?: string | undefined;
  /** The address announced to participants instead of this machine's own. */
  announcedAddress?: string | undefined;
  /** Whether candidates that name private or loopback addresses are contacted. */
  allowPrivateCandidates: boolean;
  maxDataBytes: number;
  levelIntervalMs: number;
}

/** To the media process. */
export type MediaRequest =
  | { type: "start"; settings: MediaSettings }
  | { type: "commands"; commands: MediaCommand[] }
  | { type: "end" };

/** From the media process. */
export type MediaReply =
  | { type: "started" }
  | { type: "failed"; reason: string }
  | { type: "events"; events: MediaEvent[] };
