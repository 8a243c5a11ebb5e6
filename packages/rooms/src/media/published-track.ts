import type { MediaKind, PeerId, TrackLevel, TrackLoss, TrackSid } from "./messages.ts";
import { createReception, type Reception } from "./reception.ts";
import {
  readSenderReport,
  rtcpPackets,
  writeKeyFrameRequest,
  writeReceiverReport,
  writeSenderReport,
  type SenderReport,
} from "./rtcp.ts";
import {
  isRtcp,
  isRtp,
  payloadTypeOf,
  readExtension,
  sequenceOf,
  ssrcOf,
  timestampOf,
  writePayloadType,
  writeSequence,
  writeSsrc,
  writeTimestamp,
} from "./rtp-header.ts";
import type { Codec } from "./sdp.ts";

/** One track on its way from its publisher to everyone subscribed. Nothing is decoded. */
export interface PublishedTrack {
  readonly sid: TrackSid;
  readonly kind: MediaKind;
  readonly codec: Codec;
  /** RTP or RTCP of the publisher. The packet is rewritten in place. */
  receive(packet: Buffer): void;
  addTarget(target: ForwardTarget): void;
  removeTarget(peer: PeerId): void;
  setPaused(peer: PeerId, paused: boolean): void;
  setMuted(muted: boolean): void;
  requestKeyFrame(): void;
  /** Sends RTCP reports to the publisher and the receivers. */
  report(nowMs: number): TrackLoss | undefined;
  /** The loudness since the last call; undefined when no packets came. */
  takeLevel(): TrackLevel | undefined;
}

/** Where a track goes: one media section of a subscriber's connection. */
export interface ForwardTarget {
  peer: PeerId;
  ssrc: number;
  payloadType: number;
  send(packet: Buffer): void;
}

export interface PublishedTrackOptions {
  sid: TrackSid;
  kind: MediaKind;
  codec: Codec;
  /** Number of the header extension that carries the loudness. */
  levelExtension: number | undefined;
  /** To the publisher. */
  sendFeedback(packet: Buffer): void;
}

const LOUD_DB = 35; // quieter than 35 dB below full scale is no speech
const PACKETS_PER_SECOND_MAX = 5_000; // well above any video; the rest is dropped
const KEY_FRAME_EVERY_MS = 500; // many receivers may ask at once
const FEEDBACK_SSRC = 1;

export function createPublishedTrack(options: PublishedTrackOptions): PublishedTrack {
  return new Track(options);
}

type Target = ForwardTarget & { paused: boolean; packets: number; octets: number };

const NOTHING_HEARD = { packets: 0, loudPackets: 0, loudSum: 0 };

class Track implements PublishedTrack {
  readonly sid: TrackSid;
  readonly kind: MediaKind;
  readonly codec: Codec;
  readonly #options: PublishedTrackOptions;
  readonly #targets = new Map<PeerId, Target>();
  readonly #reception: Reception;
  readonly #splice: StreamSplice;
  #isMuted = false;
  #senderReport: SenderReport | undefined;
  #sourceSsrc = 0;
  #keyFrameAskedMs = -Infinity;
  #level = { ...NOTHING_HEARD };
  #rate = { second: 0, packets: 0 };

  constructor(options: PublishedTrackOptions) {
    this.#options = options;
    this.sid = options.sid;
    this.kind = options.kind;
    this.codec = options.codec;
    this.#reception = createReception(options.codec.clockRate);
    this.#splice = createStreamSplice(options.codec.clockRate);
  }

  receive(packet: Buffer): void {
    if (isRtp(packet)) this.#forward(packet);
    else if (isRtcp(packet)) this.#hear(packet);
  }

  addTarget(target: ForwardTarget): void {
    this.#targets.set(target.peer, { ...target, paused: false, packets: 0, octets: 0 });
    this.requestKeyFrame();
  }

  removeTarget(peer: PeerId): void {
    this.#targets.delete(peer);
  }

  setPaused(peer: PeerId, paused: boolean): void {
    const target = this.#targets.get(peer);
    if (!target || target.paused === paused) return;
    target.paused = paused;
    if (!paused) this.requestKeyFrame();
  }

  setMuted(muted: boolean): void {
    this.#isMuted = muted;
  }

  requestKeyFrame(): void {
    const nowMs = performance.now();
    if (this.kind !== "video" || this.#sourceSsrc === 0) return;
    if (nowMs - this.#keyFrameAskedMs < KEY_FRAME_EVERY_MS) return;
    this.#keyFrameAskedMs = nowMs;
    this.#options.sendFeedback(
      writeKeyFrameRequest({ senderSsrc: FEEDBACK_SSRC, mediaSsrc: this.#sourceSsrc }),
    );
  }

  report(nowMs: number): TrackLoss | undefined {
    const received = this.#reception.report(nowMs);
    if (!received) return undefined;
    this.#options.sendFeedback(writeReceiverReport(FEEDBACK_SSRC, received));
    if (this.#senderReport) {
      const { ntpSeconds, ntpFraction } = this.#senderReport;
      const timestamp = this.#splice.toOutgoing(this.#senderReport.timestamp);
      for (const { ssrc, packets, octets, send } of this.#targets.values())
        if (packets > 0)
          send(writeSenderReport({ ssrc, ntpSeconds, ntpFraction, timestamp, packets, octets }));
      this.#senderReport = undefined;
    }
    return { track: this.sid, lostShare: received.fractionLost / 256 };
  }

  takeLevel(): TrackLevel | undefined {
    const { packets, loudPackets, loudSum } = this.#level;
    if (packets === 0) return undefined;
    this.#level = { ...NOTHING_HEARD };
    const loudness = loudPackets > 0 ? loudSum / loudPackets : 127;
    return { track: this.sid, packets, loudPackets, loudness };
  }

  #forward(packet: Buffer): void {
    const nowMs = performance.now();
    const second = Math.trunc(nowMs / 1000);
    if (second !== this.#rate.second) this.#rate = { second, packets: 0 };
    this.#rate.packets += 1;
    if (this.#rate.packets > PACKETS_PER_SECOND_MAX || payloadTypeOf(packet) !== this.codec.payloadType)
      return;
    this.#reception.receive(packet, nowMs);
    this.#sourceSsrc = ssrcOf(packet);
    this.#measure(packet);
    if (this.#isMuted) return this.#splice.skip();
    this.#splice.rewrite(packet, nowMs);
    for (const target of this.#targets.values()) {
      if (target.paused) continue;
      writeSsrc(packet, target.ssrc);
      writePayloadType(packet, target.payloadType);
      target.packets += 1;
      target.octets += packet.length;
      target.send(packet);
    }
  }

  #measure(packet: Buffer): void {
    if (this.#options.levelExtension === undefined) return;
    this.#level.packets += 1;
    const value = readExtension(packet, this.#options.levelExtension);
    if (value === undefined || this.#isMuted) return;
    const belowFullScale = value & 0x7f;
    if (belowFullScale > LOUD_DB) return;
    this.#level.loudPackets += 1;
    this.#level.loudSum += belowFullScale;
  }

  #hear(compound: Buffer): void {
    for (const packet of rtcpPackets(compound)) {
      const report = readSenderReport(packet);
      if (report?.ssrc !== this.#sourceSsrc) continue; // about another track of the publisher
      this.#reception.noteSenderReport(report, performance.now());
      this.#senderReport = report;
    }
  }
}

/** Makes one continuous stream of a publisher's packets across changes of source and gaps left on purpose. */
interface StreamSplice {
  /** Rewrites number and time of a packet that goes out. */
  rewrite(packet: Buffer, nowMs: number): void;
  /** A packet was left out on purpose; receivers must not take it for lost. */
  skip(): void;
  toOutgoing(timestamp: number): number;
}

function createStreamSplice(clockRateHz: number): StreamSplice {
  let source: number | undefined;
  let sequenceOffset = 0;
  let timestampOffset = 0;
  let skipped = false;
  let last: { sequence: number; timestamp: number; sentMs: number } | undefined;

  function join(packet: Buffer, nowMs: number): void {
    const isNewSource = ssrcOf(packet) !== source;
    source = ssrcOf(packet);
    skipped = false;
    if (!last) return;
    sequenceOffset = (last.sequence + 1 - sequenceOf(packet)) & 0xffff;
    if (!isNewSource) return;
    const elapsed = Math.max(1, Math.round(((nowMs - last.sentMs) * clockRateHz) / 1000));
    timestampOffset = (last.timestamp + elapsed - timestampOf(packet)) >>> 0;
  }

  return {
    rewrite(packet, nowMs) {
      if (skipped || ssrcOf(packet) !== source) join(packet, nowMs);
      const sequence = (sequenceOf(packet) + sequenceOffset) & 0xffff;
      const timestamp = (timestampOf(packet) + timestampOffset) >>> 0;
      const isNewest = !last || ((sequence - last.sequence) & 0xffff) < 0x8000;
      if (isNewest) last = { sequence, timestamp, sentMs: nowMs };
      writeSequence(packet, sequence);
      writeTimestamp(packet, timestamp);
    },
    skip: () => void (skipped = true),
    toOutgoing: (timestamp) => (timestamp + timestampOffset) >>> 0,
  };
}
