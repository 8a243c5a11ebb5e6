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

const SSRCS_MAX = 256; // that a participant makes us remember
const CHANNELS = new Map<string, DataKind>([
  ["_reliable", "reliable"],
  ["_lossy", "lossy"],
]);

export function createPublisherConnection(options: PublisherConnectionOptions): PublisherConnection {
  const connection = createNativeConnection({
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
  const tracks = new Map<string, PublishedTrack>(); // by mid
  const bySsrc = new Map<number, PublishedTrack>();
  let midExtension: number | undefined;
  let credentials: { ufrag: string; password: string } | undefined;
  let answering: Promise<unknown> = Promise.resolve();

  const native = connection.addTrack(describeRtp());
  native.onMessage((packet) => {
    if (isRtp(packet)) return trackOf(packet)?.receive(packet);
    for (const track of tracks.values()) track.receive(packet); // each looks for what is its own
  });

  function trackOf(packet: Buffer): PublishedTrack | undefined {
    const ssrc = ssrcOf(packet);
    const known = bySsrc.get(ssrc);
    if (known) return known;
    const mid = midExtension === undefined ? undefined : readExtensionText(packet, midExtension);
    const named = mid === undefined ? ofPayloadType(payloadTypeOf(packet)) : tracks.get(mid);
    if (named && bySsrc.size < SSRCS_MAX) bySsrc.set(ssrc, named);
    return named;
  }

  function ofPayloadType(payloadType: number): PublishedTrack | undefined {
    const fitting = [...tracks.values()].filter(({ codec }) => codec.payloadType === payloadType);
    return fitting.length === 1 ? fitting[0] : undefined;
  }

  function addTrack(section: Section, published: PublishedSection): void {
    const codec = chooseCodec(section);
    if (!codec || section.kind === "application") return;
    const track = createPublishedTrack({
      sid: published.track,
      kind: section.kind,
      codec,
      levelExtension: section.kind === "audio" ? section.extensions.get(AUDIO_LEVEL) : undefined,
      sendFeedback: (packet) => native.send(packet),
    });
    endTrack(section.mid);
    tracks.set(section.mid, track);
    options.published(track);
  }

  function endTrack(mid: string): void {
    const track = tracks.get(mid);
    if (!tracks.delete(mid)) return;
    for (const [ssrc, one] of bySsrc) if (one === track) bySsrc.delete(ssrc);
  }

  async function answer(sdp: string, sections: PublishedSection[]): Promise<string> {
    const offer = parseDescription(sdp);
    // The library cannot restart ICE. Where the old path still works, the old credentials go on working.
    credentials ??= { ufrag: offer.ufrag, password: offer.password };
    const published = new Map(sections.map((section) => [section.mid, section]));
    for (const section of offer.sections) {
      const known = published.get(section.mid);
      midExtension ??= section.extensions.get(MID);
      if (!known || !isSending(section)) endTrack(section.mid);
      else if (tracks.get(section.mid)?.sid !== known.track) addTrack(section, known);
      const track = tracks.get(section.mid);
      if (track && bySsrc.size < SSRCS_MAX) for (const ssrc of section.ssrcs) bySsrc.set(ssrc, track);
    }
    const described = await connection.answer(offerForLibrary(offer, credentials));
    return answerForParticipant({ offer, published, answer: described });
  }

  return {
    answer(sdp, sections) {
      const next = answering.then(() => answer(sdp, sections));
      answering = next.catch(() => undefined);
      return next;
    },
    addCandidate: (candidate, mid) => connection.addCandidate(candidate, mid),
    close: () => connection.close(),
  };
}
