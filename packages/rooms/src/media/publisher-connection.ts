import { Audio, Video } from "../native.ts";
import type { DataKind, PublishedSection, TrackSid } from "./messages.ts";
import { createNativeConnection, type NativeConnectionOptions } from "./native-connection.ts";
import { createPublishedTrack, type PublishedTrack } from "./published-track.ts";
import {
  isSending,
  mirrorDirections,
  parametersOf,
  parseDescription,
  withCredentials,
  type Codec,
  type Section,
} from "./sdp.ts";

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

const AUDIO_LEVEL = "urn:ietf:params:rtp-hdrext:ssrc-audio-level";
const VIDEO_CODECS = ["vp8", "h264", "vp9", "av1"];
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
  const sids = new Map<string, TrackSid>();
  let credentials: { ufrag: string; password: string } | undefined;
  let answering: Promise<unknown> = Promise.resolve();

  function addTrack(section: Section, published: PublishedSection): void {
    const codec = chooseCodec(section);
    if (!codec || section.kind === "application") return;
    const levelExtension = section.kind === "audio" ? section.extensions.get(AUDIO_LEVEL) : undefined;
    const native = connection.addTrack(
      section.kind === "audio"
        ? describeAudio(section, { codec, published, levelExtension })
        : describeVideo(section, codec),
    );
    const track = createPublishedTrack({
      sid: published.track,
      kind: section.kind,
      codec,
      levelExtension,
      sendFeedback: (packet) => native.send(packet),
    });
    native.onMessage((packet) => track.receive(packet));
    sids.set(section.mid, published.track);
    options.published(track);
  }

  async function answer(sdp: string, sections: PublishedSection[]): Promise<string> {
    const offer = parseDescription(sdp);
    // The library cannot restart ICE. Where the old path still works, the old credentials go on working.
    credentials ??= { ufrag: offer.ufrag, password: offer.password };
    const published = new Map(sections.map((section) => [section.mid, section]));
    for (const section of offer.sections) {
      const known = published.get(section.mid);
      if (known && isSending(section) && sids.get(section.mid) !== known.track) addTrack(section, known);
    }
    const described = await connection.answer(withCredentials(offer.sdp, credentials));
    return mirrorDirections(described, offer.sections);
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

function chooseCodec({ kind, codecs }: Section): Codec | undefined {
  if (kind === "audio") return codecs.find(({ name }) => name === "opus");
  return codecs.find(({ name }) => VIDEO_CODECS.includes(name));
}

interface AudioDescription {
  codec: Codec;
  published: PublishedSection;
  levelExtension: number | undefined;
}

function describeAudio(section: Section, { codec, published, levelExtension }: AudioDescription): Audio {
  const media = new Audio(section.mid, "RecvOnly");
  const parameters = ["minptime=10", "useinbandfec=1"];
  if (published.dtx) parameters.push("usedtx=1");
  if (published.stereo) parameters.push("stereo=1");
  media.addOpusCodec(codec.payloadType, parameters.join(";"));
  if (levelExtension !== undefined) media.parseSdpLine(`a=extmap:${levelExtension} ${AUDIO_LEVEL}`);
  return media;
}

function describeVideo(section: Section, codec: Codec): Video {
  const media = new Video(section.mid, "RecvOnly");
  media.addVideoCodec(codec.payloadType, codec.name.toUpperCase(), ...parametersOf(codec));
  return media;
}
