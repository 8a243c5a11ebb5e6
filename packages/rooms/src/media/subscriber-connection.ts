import { randomInt } from "node:crypto";
import { Audio, Video, type NativeChannel, type NativeTrack } from "../native.ts";
import { withoutCandidates } from "./candidates.ts";
import type { DataKind, PeerId, TrackSid } from "./messages.ts";
import { createNativeConnection, type NativeConnectionOptions } from "./native-connection.ts";
import type { PublishedTrack } from "./published-track.ts";
import { isKeyFrameRequest, lostPackets, rtcpPackets, sourceOfFeedback } from "./rtcp.ts";
import { isRtcp, isRtp, sequenceOf } from "./rtp-header.ts";
import { parametersOf, parseDescription } from "./sdp.ts";

/** The connection a participant receives on. We offer, the participant answers; one offer is out at a time. */
export interface SubscriberConnection {
  subscribe(track: PublishedTrack, streamId: string): void;
  unsubscribe(track: TrackSid): void;
  answered(offerId: number, sdp: string): void;
  /** Offers again although nothing changed: a participant that resumes waits for it. */
  offerAgain(): void;
  addCandidate(candidate: string, mid: string): void;
  send(kind: DataKind, bytes: Uint8Array): void;
  close(): void;
}

interface SubscriberConnectionOptions extends NativeConnectionOptions {
  peer: PeerId;
  offer(offer: SubscriberOffer): void;
  subscribed(track: TrackSid): void;
  /** The participant does not read what it is sent, or its connection is worn out. */
  full(reason: string): void;
}

interface SubscriberOffer {
  offerId: number;
  sdp: string;
  midToTrack: Record<string, TrackSid>;
}

interface Subscription {
  track: PublishedTrack;
  native: NativeTrack;
  mid: string;
  announced: boolean;
}

const OPUS_PAYLOAD_TYPE = 111;
const VIDEO_PAYLOAD_TYPE = 96;
const UNSENT_MAX_BYTES = { reliable: 8 * 1024 * 1024, lossy: 256 * 1024 };
const SECTIONS_MAX = 120; // they are never used again; a participant then starts afresh

export function createSubscriberConnection(options: SubscriberConnectionOptions): SubscriberConnection {
  const connection = createNativeConnection({ ...options, role: "offers" });
  const channels: Record<DataKind, NativeChannel> = {
    reliable: connection.createChannel("_reliable"),
    lossy: connection.createChannel("_lossy", { unordered: true, maxRetransmits: 0 }),
  };
  const subscriptions = new Map<TrackSid, Subscription>();
  let sections = 0;
  let offerId = 0;
  let lastOffer: SubscriberOffer | undefined;
  let awaiting = false;
  let wanted = true;
  // With our candidates a participant's checks can be here before its answer, and the library then begins DTLS before it
  // knows the fingerprint, which never succeeds. So they come with the second offer.
  let isIntroduced = false;
  let closed = false;

  function negotiate(): void {
    wanted = true;
    if (!awaiting) setImmediate(() => void offerNow().catch(options.problem)); // all changes of one turn in one offer
  }

  async function offerNow(): Promise<void> {
    if (awaiting || !wanted || closed) return;
    awaiting = true;
    wanted = false;
    offerId += 1;
    const midToTrack = Object.fromEntries([...subscriptions].map(([sid, { mid }]) => [mid, sid]));
    const sdp = await connection.offer();
    lastOffer = { offerId, sdp: isIntroduced ? sdp : withoutCandidates(sdp), midToTrack };
    options.offer(lastOffer);
  }

  function addSection(track: PublishedTrack, streamId: string): Subscription {
    sections += 1;
    const mid = String(sections);
    const ssrc = randomInt(1, 0xffff_ffff);
    const media = describe(track, mid);
    media.addSSRC(ssrc, streamId, streamId, track.sid);
    const native = connection.addTrack(media);
    const sent = track.kind === "video" ? createSentPackets() : undefined;
    if (sent)
      native.onMessage((packet) => {
        if (!isRtcp(packet)) return;
        for (const part of rtcpPackets(packet)) {
          if (isKeyFrameRequest(part)) track.requestKeyFrame();
          if (sourceOfFeedback(part) === ssrc)
            for (const lost of lostPackets(part)) sendAgain(sent.again(lost));
        }
      });
    const sendAgain = (packet: Buffer | undefined): void => void (packet && native.send(packet));
    track.addTarget({
      peer: options.peer,
      ssrc,
      payloadType: payloadTypeFor(track),
      send(packet) {
        if (isRtp(packet)) sent?.keep(packet);
        native.send(packet);
      },
    });
    return { track, native, mid, announced: false };
  }

  negotiate();
  return {
    subscribe(track, streamId) {
      if (subscriptions.has(track.sid) || closed) return;
      if (sections >= SECTIONS_MAX) return options.full("media sections are used up");
      subscriptions.set(track.sid, addSection(track, streamId));
      return negotiate();
    },
    unsubscribe(sid) {
      const subscription = subscriptions.get(sid);
      if (!subscription) return;
      subscriptions.delete(sid);
      subscription.track.removeTarget(options.peer);
      subscription.native.close();
      negotiate();
    },
    answered(answeredId, sdp) {
      if (!awaiting || (answeredId !== 0 && answeredId !== offerId)) return;
      connection.accept(parseDescription(sdp).sdp);
      awaiting = false;
      lastOffer = undefined;
      wanted ||= !isIntroduced;
      isIntroduced = true;
      for (const [sid, subscription] of subscriptions) {
        if (subscription.announced) continue;
        subscription.announced = true;
        options.subscribed(sid);
      }
      if (wanted) negotiate();
    },
    offerAgain() {
      if (awaiting && lastOffer) options.offer(lastOffer); // it was lost with the old socket
      else negotiate();
    },
    addCandidate: (candidate, mid) => connection.addCandidate(candidate, mid),
    send(kind, bytes) {
      const channel = channels[kind];
      if (!channel.isOpen) return;
      if (channel.bufferedBytes() + bytes.length <= UNSENT_MAX_BYTES[kind]) channel.send(bytes);
      else if (kind === "reliable") options.full("data is not read");
    },
    close() {
      closed = true;
      for (const { track } of subscriptions.values()) track.removeTarget(options.peer);
      subscriptions.clear();
      connection.close();
    },
  };
}

function payloadTypeFor({ kind }: PublishedTrack): number {
  return kind === "audio" ? OPUS_PAYLOAD_TYPE : VIDEO_PAYLOAD_TYPE;
}

function describe(track: PublishedTrack, mid: string): Audio | Video {
  if (track.kind === "audio") {
    const audio = new Audio(mid, "SendOnly");
    audio.addOpusCodec(OPUS_PAYLOAD_TYPE, "minptime=10;useinbandfec=1;usedtx=1");
    return audio;
  }
  const video = new Video(mid, "SendOnly");
  video.addVideoCodec(VIDEO_PAYLOAD_TYPE, track.codec.name.toUpperCase(), ...parametersOf(track.codec));
  return video;
}

/** What was sent last, for a receiver that has lost some of it. */
interface SentPackets {
  keep(packet: Buffer): void;
  /** Undefined when it is no longer there, or was asked for too often. */
  again(sequence: number): Buffer | undefined;
}

const KEPT_PACKETS = 512; // the lower 9 bits of the number are the place
const AGAIN_MAX = 5; // a receiver that asks for everything for ever costs so many times its stream

export function createSentPackets(): SentPackets {
  const kept: { packet: Buffer; left: number }[] = [];
  return {
    // A copy: packets are rewritten for the next receiver.
    keep: (packet) =>
      void (kept[sequenceOf(packet) % KEPT_PACKETS] = { packet: Buffer.from(packet), left: AGAIN_MAX }),
    again(sequence) {
      const found = kept[sequence % KEPT_PACKETS];
      if (!found || found.left === 0 || sequenceOf(found.packet) !== sequence) return undefined;
      found.left -= 1;
      return found.packet;
    },
  };
}
