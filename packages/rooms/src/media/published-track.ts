import type { MediaKind, PeerId, TrackLevel, TrackLoss, TrackSid } from "./messages.ts";
import { createReception } from "./reception.ts";
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
  /** Tells publisher and receivers how things stand. */
  report(nowMs: number): TrackLoss | undefined;
  /** How loud it was since the last question; undefined when nothing came. */
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
  const { codec } = options;
  const targets = new Map<PeerId, ForwardTarget & { paused: boolean; packets: number; octets: number }>();
  const reception = createReception(codec.clockRate);
  const splice = createStreamSplice(codec.clockRate);
  let muted = false;
  let senderReport: SenderReport | undefined;
  let sourceSsrc = 0;
  let keyFrameAskedMs = -Infinity;
  let level = { packets: 0, loudPackets: 0, loudSum: 0 };
  let rate = { second: 0, packets: 0 };

  function forward(packet: Buffer): void {
    const nowMs = performance.now();
    const second = Math.trunc(nowMs / 1000);
    if (second !== rate.second) rate = { second, packets: 0 };
    rate.packets += 1;
    if (rate.packets > PACKETS_PER_SECOND_MAX || payloadTypeOf(packet) !== codec.payloadType) return;
    reception.receive(packet, nowMs);
    sourceSsrc = packet.readUInt32BE(8);
    measure(packet);
    if (muted) return splice.skip();
    splice.rewrite(packet, nowMs);
    for (const target of targets.values()) {
      if (target.paused) continue;
      writeSsrc(packet, target.ssrc);
      writePayloadType(packet, target.payloadType);
      target.packets += 1;
      target.octets += packet.length;
      target.send(packet);
    }
  }

  function measure(packet: Buffer): void {
    if (options.levelExtension === undefined) return;
    level.packets += 1;
    const value = readExtension(packet, options.levelExtension);
    if (value === undefined || muted) return;
    const belowFullScale = value & 0x7f;
    if (belowFullScale > LOUD_DB) return;
    level.loudPackets += 1;
    level.loudSum += belowFullScale;
  }

  function hear(compound: Buffer): void {
    for (const packet of rtcpPackets(compound)) {
      const report = readSenderReport(packet);
      if (report?.ssrc !== sourceSsrc) continue; // of another track of its publisher
      reception.noteSenderReport(report, performance.now());
      senderReport = report;
    }
  }

  function requestKeyFrame(): void {
    const nowMs = performance.now();
    if (options.kind !== "video" || sourceSsrc === 0 || nowMs - keyFrameAskedMs < KEY_FRAME_EVERY_MS) return;
    keyFrameAskedMs = nowMs;
    options.sendFeedback(writeKeyFrameRequest({ senderSsrc: FEEDBACK_SSRC, mediaSsrc: sourceSsrc }));
  }

  return {
    sid: options.sid,
    kind: options.kind,
    codec,
    receive(packet) {
      if (isRtp(packet)) forward(packet);
      else if (isRtcp(packet)) hear(packet);
    },
    addTarget(target) {
      targets.set(target.peer, { ...target, paused: false, packets: 0, octets: 0 });
      requestKeyFrame();
    },
    removeTarget: (peer) => void targets.delete(peer),
    setPaused(peer, paused) {
      const target = targets.get(peer);
      if (!target || target.paused === paused) return;
      target.paused = paused;
      if (!paused) requestKeyFrame();
    },
    setMuted: (next) => void (muted = next),
    requestKeyFrame,
    report(nowMs) {
      const received = reception.report(nowMs);
      if (!received) return undefined;
      options.sendFeedback(writeReceiverReport(FEEDBACK_SSRC, received));
      if (senderReport) {
        const { ntpSeconds, ntpFraction } = senderReport;
        const timestamp = splice.toOutgoing(senderReport.timestamp);
        for (const { ssrc, packets, octets, send } of targets.values())
          if (packets > 0)
            send(writeSenderReport({ ssrc, ntpSeconds, ntpFraction, timestamp, packets, octets }));
        senderReport = undefined;
      }
      return { track: options.sid, lostShare: received.fractionLost / 256 };
    },
    takeLevel() {
      const { packets, loudPackets, loudSum } = level;
      if (packets === 0) return undefined;
      level = { packets: 0, loudPackets: 0, loudSum: 0 };
      return {
        track: options.sid,
        packets,
        loudPackets,
        loudness: loudPackets > 0 ? loudSum / loudPackets : 127,
      };
    },
  };
}

/** Makes one continuous stream of what a publisher sends, whatever stream it comes from and whatever is left out. */
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
