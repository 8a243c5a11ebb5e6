import { randomInt } from "node:crypto";
import { Audio, Video, type NativeChannel, type NativeConnection, type NativeTrack } from "../native.ts";
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
  return new Subscriber(options);
}

class Subscriber implements SubscriberConnection {
  readonly #options: SubscriberConnectionOptions;
  readonly #connection: NativeConnection;
  readonly #channels: Record<DataKind, NativeChannel>;
  readonly #subscriptions = new Map<TrackSid, Subscription>();
  #sections = 0;
  #offerId = 0;
  #lastOffer: SubscriberOffer | undefined;
  #isAwaiting = false;
  #isWanted = true;
  // With our candidates a participant's checks can arrive before its answer. The library then begins DTLS before it
  // knows the fingerprint, which never succeeds. So the first offer has no candidates.
  #isIntroduced = false;
  #isClosed = false;

  constructor(options: SubscriberConnectionOptions) {
    this.#options = options;
    this.#connection = createNativeConnection({ ...options, role: "offers" });
    this.#channels = {
      reliable: this.#connection.createChannel("_reliable"),
      lossy: this.#connection.createChannel("_lossy", { unordered: true, maxRetransmits: 0 }),
    };
    this.#negotiate();
  }

  subscribe(track: PublishedTrack, streamId: string): void {
    if (this.#subscriptions.has(track.sid) || this.#isClosed) return;
    if (this.#sections >= SECTIONS_MAX) return this.#options.full("media sections are used up");
    this.#subscriptions.set(track.sid, this.#addSection(track, streamId));
    return this.#negotiate();
  }

  unsubscribe(sid: TrackSid): void {
    const subscription = this.#subscriptions.get(sid);
    if (!subscription) return;
    this.#subscriptions.delete(sid);
    subscription.track.removeTarget(this.#options.peer);
    subscription.native.close();
    this.#negotiate();
  }

  answered(offerId: number, sdp: string): void {
    if (!this.#isAwaiting || (offerId !== 0 && offerId !== this.#offerId)) return;
    this.#connection.accept(parseDescription(sdp).sdp);
    this.#isAwaiting = false;
    this.#lastOffer = undefined;
    this.#isWanted ||= !this.#isIntroduced;
    this.#isIntroduced = true;
    for (const [sid, subscription] of this.#subscriptions) {
      if (subscription.announced) continue;
      subscription.announced = true;
      this.#options.subscribed(sid);
    }
    if (this.#isWanted) this.#negotiate();
  }

  offerAgain(): void {
    if (this.#isAwaiting && this.#lastOffer) this.#options.offer(this.#lastOffer); // it was lost with the old socket
    else this.#negotiate();
  }

  addCandidate(candidate: string, mid: string): void {
    this.#connection.addCandidate(candidate, mid);
  }

  send(kind: DataKind, bytes: Uint8Array): void {
    const channel = this.#channels[kind];
    if (!channel.isOpen) return;
    if (channel.bufferedBytes() + bytes.length <= UNSENT_MAX_BYTES[kind]) channel.send(bytes);
    else if (kind === "reliable") this.#options.full("data is not read");
  }

  close(): void {
    this.#isClosed = true;
    for (const { track } of this.#subscriptions.values()) track.removeTarget(this.#options.peer);
    this.#subscriptions.clear();
    this.#connection.close();
  }

  #negotiate(): void {
    this.#isWanted = true;
    // All changes of one turn of the event loop go into one offer.
    if (!this.#isAwaiting) setImmediate(() => void this.#offerNow().catch(this.#options.problem));
  }

  async #offerNow(): Promise<void> {
    if (this.#isAwaiting || !this.#isWanted || this.#isClosed) return;
    this.#isAwaiting = true;
    this.#isWanted = false;
    this.#offerId += 1;
    const offerId = this.#offerId;
    const midToTrack = Object.fromEntries([...this.#subscriptions].map(([sid, { mid }]) => [mid, sid]));
    const sdp = await this.#connection.offer();
    this.#lastOffer = { offerId, sdp: this.#isIntroduced ? sdp : withoutCandidates(sdp), midToTrack };
    this.#options.offer(this.#lastOffer);
  }

  #addSection(track: PublishedTrack, streamId: string): Subscription {
    this.#sections += 1;
    const mid = String(this.#sections);
    const ssrc = randomInt(1, 0xffff_ffff);
    const media = describe(track, mid);
    media.addSSRC(ssrc, streamId, streamId, track.sid);
    const native = this.#connection.addTrack(media);
    const sent = track.kind === "video" ? createSentPackets() : undefined;
    if (sent) native.onMessage((packet) => hearFeedback(packet, { track, ssrc, sent, native }));
    track.addTarget({
      peer: this.#options.peer,
      ssrc,
      payloadType: payloadTypeFor(track),
      send(packet) {
        if (isRtp(packet)) sent?.keep(packet);
        native.send(packet);
      },
    });
    return { track, native, mid, announced: false };
  }
}

interface SentVideo {
  track: PublishedTrack;
  ssrc: number;
  sent: SentPackets;
  native: NativeTrack;
}

/** Answers the receiver's requests for key frames and lost packets. */
function hearFeedback(packet: Buffer, { track, ssrc, sent, native }: SentVideo): void {
  if (!isRtcp(packet)) return;
  for (const part of rtcpPackets(packet)) {
    if (isKeyFrameRequest(part)) track.requestKeyFrame();
    if (sourceOfFeedback(part) !== ssrc) continue;
    for (const lost of lostPackets(part)) {
      const kept = sent.again(lost);
      if (kept) native.send(kept);
    }
  }
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

/** The packets sent last, for a receiver that has lost some of them. */
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
