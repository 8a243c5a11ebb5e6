import { Audio, Video } from "../native.ts";
import type { PublishedSection } from "./messages.ts";
import { isSending, parametersOf, type Codec, type Description, type Section } from "./sdp.ts";

// The library hands a packet to a track by the SSRC in the offer, and simulcast names none there. So it sees one media
// section of our making, whose track gets every packet, and the sections of the participant are answered here.

export const RTP_MID = "rtp";
const DATA_MID = "data";

export const AUDIO_LEVEL = "urn:ietf:params:rtp-hdrext:ssrc-audio-level";
export const MID = "urn:ietf:params:rtp-hdrext:sdes:mid";
const STREAM_ID = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id";
const EXTENSIONS = {
  audio: [MID, AUDIO_LEVEL],
  video: [MID, STREAM_ID], // also of a camera that is off: what was once given up stays so, and it may begin again
};
const VIDEO_CODECS = ["vp8", "h264", "vp9", "av1"];

/** The one track of the library. */
export function describeRtp(): Audio {
  const media = new Audio(RTP_MID, "RecvOnly");
  media.addOpusCodec(111);
  return media;
}

/** The participant's offer as the library sees it. */
export function offerForLibrary(
  offer: Description,
  { ufrag, password }: Pick<Description, "ufrag" | "password">,
) {
  const data = offer.sections.find(({ kind, rejected }) => kind === "application" && !rejected);
  return lines([
    "v=0",
    "o=- 1 1 IN IP4 127.0.0.1",
    "s=-",
    "t=0 0",
    `a=group:BUNDLE ${RTP_MID}${data ? ` ${DATA_MID}` : ""}`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${password}`,
    ...(offer.fingerprint ? [`a=fingerprint:${offer.fingerprint}`] : []),
    `a=setup:${offer.setup ?? "actpass"}`,
    "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "c=IN IP4 0.0.0.0",
    `a=mid:${RTP_MID}`,
    "a=sendonly",
    "a=rtcp-mux",
    "a=rtpmap:111 opus/48000/2",
    ...(data
      ? [
          "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
          "c=IN IP4 0.0.0.0",
          `a=mid:${DATA_MID}`,
          ...(data.sctpPort === undefined ? [] : [`a=sctp-port:${data.sctpPort}`]),
          ...(data.maxMessageSize === undefined ? [] : [`a=max-message-size:${data.maxMessageSize}`]),
        ]
      : []),
  ]);
}

export interface Answering {
  offer: Description;
  /** By mid. */
  published: ReadonlyMap<string, PublishedSection>;
  /** The library's answer. */
  answer: string;
}

/** The library's answer with a section for each of the participant's. */
export function answerForParticipant({ offer, published, answer }: Answering): string {
  const [head = "", ...parts] = answer.split(/^(?=m=)/m);
  const candidates =
    answer.match(/^a=(?:candidate:.*|end-of-candidates)$/gm)?.map((line) => line.trim()) ?? [];
  const data = parts.find((part) => part.startsWith("m=application"));
  const sections = offer.sections.map((section) => {
    if (section.kind === "application")
      return data && !section.rejected
        ? withoutCandidates(data).replace(/^a=mid:.*?$/m, `a=mid:${section.mid}`)
        : undefined;
    return answerMedia(section, published.get(section.mid));
  });
  const bundled = offer.sections.filter((_, index) => sections[index] !== undefined).map(({ mid }) => mid);
  const transport = parts.join("").match(/^a=(?:ice-ufrag|ice-pwd|fingerprint|setup):.*$/gm) ?? [];
  const own = [...new Set(transport.map((line) => line.trim()))].filter(
    (line) => !head.includes(line.slice(0, line.indexOf(":"))),
  );
  const session = head.replace(/^a=group:.*\r?\n/gm, "");
  const [first, ...others] = offer.sections.map((section, index) => sections[index] ?? reject(section));
  return (
    session +
    lines([`a=group:BUNDLE ${bundled.join(" ")}`, ...own]) +
    (first ?? "") +
    (candidates.length > 0 ? lines(candidates) : "") +
    others.join("")
  );
}

/** The codec of a section that we forward. */
export function chooseCodec({ kind, codecs }: Section): Codec | undefined {
  if (kind === "audio") return codecs.find(({ name }) => name === "opus");
  return codecs.find(({ name }) => VIDEO_CODECS.includes(name));
}

function answerMedia(section: Section, published: PublishedSection | undefined): string | undefined {
  const codec = chooseCodec(section);
  if (section.rejected || !codec || section.kind === "application") return undefined;
  const isReceived = isSending(section);
  const media =
    section.kind === "audio" ? describeAudio(section, { codec, published }) : describeVideo(section, codec);
  media.setDirection(isReceived ? "RecvOnly" : "Inactive");
  for (const name of EXTENSIONS[section.kind]) {
    const id = section.extensions.get(name);
    if (id !== undefined) media.parseSdpLine(`a=extmap:${id} ${name}`);
  }
  const layer = isReceived ? section.layers.at(-1) : undefined; // clients begin with the smallest
  const sdp = media.generateSdp("\r\n", "IP4 0.0.0.0", 9);
  return layer === undefined ? sdp : sdp + lines([`a=rid:${layer} recv`, `a=simulcast:recv ${layer}`]);
}

function describeAudio(
  { mid }: Section,
  { codec, published }: { codec: Codec; published: PublishedSection | undefined },
): Audio {
  const media = new Audio(mid, "RecvOnly");
  const parameters = ["minptime=10", "useinbandfec=1"];
  if (published?.dtx) parameters.push("usedtx=1");
  if (published?.stereo) parameters.push("stereo=1");
  media.addOpusCodec(codec.payloadType, parameters.join(";"));
  return media;
}

function describeVideo({ mid }: Section, codec: Codec): Video {
  const media = new Video(mid, "RecvOnly");
  media.addVideoCodec(codec.payloadType, codec.name.toUpperCase(), ...parametersOf(codec));
  return media;
}

function reject({ kind, mid }: Section): string {
  const protocol = kind === "application" ? "UDP/DTLS/SCTP webrtc-datachannel" : "UDP/TLS/RTP/SAVPF 0";
  return lines([`m=${kind} 0 ${protocol}`, "c=IN IP4 0.0.0.0", "a=inactive", `a=mid:${mid}`]);
}

function withoutCandidates(sdp: string): string {
  return sdp.replace(/^a=(?:candidate:.*|end-of-candidates)\r?\n/gm, "");
}

function lines(all: string[]): string {
  return `${all.join("\r\n")}\r\n`;
}
