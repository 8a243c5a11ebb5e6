import type { NativeConnection, NativeTrack } from "../native.ts";
import {
  answerForParticipant,
  AUDIO_LEVEL,
  chooseCodec,
  describeRtp,
  MID,
  offerForLibrary,
} from "./answer.ts";
import type { DataKind, PublishedSection } from "./messages.ts";
import { createNativeConnection, type NativeConnectionOptions } from "./native-connection.ts";
import { createPublishedTrack, type PublishedTrack } from "./published-track.ts";
import { isRtp, payloadTypeOf, readExtensionText, ssrcOf } from "./rtp-header.ts";
import { isSending, parseDescription, type Section } from "./sdp.ts";

/** The connection a participant sends on. The participant offers, we answer. */
export interface PublisherConnection {
  /** Resolves with our answer. */
  answer(sdp: string, sections: PublishedSection[]): Promise<string>;
  addCandidate(candidate: string, mid: string): void;
  close(): void;
}

export interface PublisherConnectionOptions extends NativeConnectionOptions {
  published(track: PublishedTrack): void;
  data(kind: DataKind, bytes: Uint8Array): void;
}

const SSRCS_MAX = 256; // remembered per participant
const CHANNELS = new Map<string, DataKind>([
  ["_reliable", "reliable"],
  ["_lossy", "lossy"],
]);

export function createPublisherConnection(options: PublisherConnectionOptions): PublisherConnection {
  return new Publisher(options);
}

class Publisher implements PublisherConnection {
  readonly #options: PublisherConnectionOptions;
  readonly #connection: NativeConnection;
  readonly #native: NativeTrack;
  readonly #tracks = new Map<string, PublishedTrack>(); // by mid
  readonly #bySsrc = new Map<number, PublishedTrack>();
  #midExtension: number | undefined;
  #credentials: { ufrag: string; password: string } | undefined;
  #answering: Promise<unknown> = Promise.resolve();

  constructor(options: PublisherConnectionOptions) {
    this.#options = options;
    this.#connection = createNativeConnection({
      ...options,
      role: "answers",
      channelOpened(channel) {
        const kind = CHANNELS.get(channel.label);
        if (!kind) return;
        channel.onMessage((message) => {
          if (typeof message !== "string") options.data(kind, new Uint8Array(message));
        });
      },
    });
    this.#native = this.#connection.addTrack(describeRtp());
    this.#native.onMessage((packet) => this.#receive(packet));
  }

  answer(sdp: string, sections: PublishedSection[]): Promise<string> {
    const next = this.#answering.then(() => this.#answerNow(sdp, sections));
    this.#answering = next.catch(() => undefined);
    return next;
  }

  addCandidate(candidate: string, mid: string): void {
    this.#connection.addCandidate(candidate, mid);
  }

  close(): void {
    this.#connection.close();
  }

  async #answerNow(sdp: string, sections: PublishedSection[]): Promise<string> {
    const offer = parseDescription(sdp);
    // The library cannot restart ICE. Where the old path still works, the old credentials go on working.
    this.#credentials ??= { ufrag: offer.ufrag, password: offer.password };
    const published = new Map(sections.map((section) => [section.mid, section]));
    for (const section of offer.sections) {
      const known = published.get(section.mid);
      this.#midExtension ??= section.extensions.get(MID);
      if (!known || !isSending(section)) this.#endTrack(section.mid);
      else if (this.#tracks.get(section.mid)?.sid !== known.track) this.#addTrack(section, known);
      const track = this.#tracks.get(section.mid);
      if (track && this.#bySsrc.size < SSRCS_MAX)
        for (const ssrc of section.ssrcs) this.#bySsrc.set(ssrc, track);
    }
    const described = await this.#connection.answer(offerForLibrary(offer, this.#credentials));
    return answerForParticipant({ offer, published, answer: described });
  }

  #addTrack(section: Section, published: PublishedSection): void {
    const codec = chooseCodec(section);
    if (!codec || section.kind === "application") return;
    const track = createPublishedTrack({
      sid: published.track,
      kind: section.kind,
      codec,
      levelExtension: section.kind === "audio" ? section.extensions.get(AUDIO_LEVEL) : undefined,
      sendFeedback: (packet) => this.#native.send(packet),
    });
    this.#endTrack(section.mid);
    this.#tracks.set(section.mid, track);
    this.#options.published(track);
  }

  #endTrack(mid: string): void {
    const track = this.#tracks.get(mid);
    if (!this.#tracks.delete(mid)) return;
    for (const [ssrc, one] of this.#bySsrc) if (one === track) this.#bySsrc.delete(ssrc);
  }

  #receive(packet: Buffer): void {
    if (isRtp(packet)) return this.#trackOf(packet)?.receive(packet);
    for (const track of this.#tracks.values()) track.receive(packet); // each picks the reports about its own source
  }

  #trackOf(packet: Buffer): PublishedTrack | undefined {
    const ssrc = ssrcOf(packet);
    const known = this.#bySsrc.get(ssrc);
    if (known) return known;
    const mid = this.#midExtension === undefined ? undefined : readExtensionText(packet, this.#midExtension);
    const named = mid === undefined ? this.#ofPayloadType(payloadTypeOf(packet)) : this.#tracks.get(mid);
    if (named && this.#bySsrc.size < SSRCS_MAX) this.#bySsrc.set(ssrc, named);
    return named;
  }

  #ofPayloadType(payloadType: number): PublishedTrack | undefined {
    const fitting = [...this.#tracks.values()].filter(({ codec }) => codec.payloadType === payloadType);
    return fitting.length === 1 ? fitting[0] : undefined;
  }
}
