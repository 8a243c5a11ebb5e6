// The native library is told of one media section, the trunk, which carries every packet; what the two sides agree on is
// described here. With any other number of sections the library takes incoming RTCP apart, and an invalid source
// description then holds its thread for ever.

/** A description in parts: lines before the first media section, and each section. */
interface Parts {
  head: string[];
  sections: string[][];
}

/** A track of ours, with the parts a description needs. */
export interface DescribedTrack {
  /** Its section, without the lines of the transport. */
  describe(): string;
  closed: boolean;
}

const TRUNK_MID = "trunk";
const TRUNK = [
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "c=IN IP4 0.0.0.0",
  `a=mid:${TRUNK_MID}`,
  "a=sendrecv",
  "a=rtcp-mux",
  "a=rtpmap:111 opus/48000/2",
];
const OF_TRANSPORT = /^a=(?:ice-ufrag|ice-pwd|fingerprint|setup|candidate|end-of-candidates)(?::|$)/;
const OF_SENDER = /^a=(?:ssrc|ssrc-group|msid|rid|simulcast|rtcp|rtcp-rsize|bundle-only)(?::|$)/;
const MIRRORED = new Map([
  ["a=sendonly", "a=recvonly"],
  ["a=recvonly", "a=sendonly"],
]);

export const trunk = { mid: TRUNK_MID, payloadType: 111 };

export function describesMedia(sdp: string): boolean {
  return split(sdp).sections.some((section) => isMedia(section) && !isRejected(section));
}

/** The other side's description for the library: the trunk in place of all media. */
export function withTrunk(sdp: string): string {
  const { head, sections } = split(sdp);
  const transport = new Set(sections.flat().filter((line) => OF_TRANSPORT.test(line)));
  const others = sections.filter((section) => !isMedia(section));
  if (others.some((section) => midOf(section) === TRUNK_MID))
    throw new Error("A media line uses our own a=mid");
  return join([head.filter((line) => !line.startsWith("a=group:")), [...TRUNK, ...transport], ...others]);
}

/** Our answer for the other side: the library's transport and data channels, and what we have of the offered media. */
export function fullAnswer(
  answer: string,
  offer: string,
  tracks: ReadonlyMap<string, DescribedTrack>,
): string {
  const own = split(answer);
  return describe(
    own,
    split(offer).sections.map((offered) => {
      const mid = midOf(offered);
      const track = tracks.get(mid);
      if (!isMedia(offered))
        return own.sections.find((section) => midOf(section) === mid) ?? rejected(offered);
      if (isRejected(offered)) return rejected(offered);
      return track ? lines(track.describe()) : mirrored(offered);
    }),
  );
}

/** Our offer for the other side. A section keeps its place for the life of the connection: `mids` tells them. */
export function fullOffer(
  offer: string,
  mids: string[],
  tracks: ReadonlyMap<string, DescribedTrack>,
): string {
  const own = split(offer);
  const channels = own.sections.filter((section) => !isMedia(section));
  for (const mid of [...channels.map(midOf), ...tracks.keys()]) if (!mids.includes(mid)) mids.push(mid);
  return describe(
    own,
    mids.flatMap((mid) => {
      const track = tracks.get(mid);
      if (!track) return channels.filter((section) => midOf(section) === mid);
      const section = lines(track.describe());
      return [track.closed ? rejected(section) : section];
    }),
  );
}

/** The media sections the other side accepts or offers, with the sources it names in each. */
export function mediaOf(sdp: string): Map<string, number[]> {
  const sections = split(sdp).sections.filter((section) => isMedia(section) && !isRejected(section));
  return new Map(sections.map((section) => [midOf(section), section.flatMap(sourceOf)]));
}

function describe({ head, sections: [first = []] }: Parts, described: string[][]): string {
  const isShared = (line: string): boolean => /^a=(?:setup|ice-ufrag|ice-pwd):/.test(line);
  const transport = first.filter(isShared);
  let candidates = first.filter((line) => OF_TRANSPORT.test(line) && !isShared(line));
  const [, port = "9"] = first[0]?.split(" ") ?? [];
  const address = first.find((line) => line.startsWith("c=")) ?? "c=IN IP4 0.0.0.0";
  const active = described.filter((section) => !isRejected(section)).map(midOf);
  const sections = described.map(([media = "", ...rest]) => {
    const plain = rest.filter((line) => !line.startsWith("c=") && !OF_TRANSPORT.test(line));
    if (isRejected([media])) return [media, "c=IN IP4 0.0.0.0", ...plain, ...transport];
    const section = [media.replace(/ \d+ /, ` ${port} `), address, ...plain, ...transport, ...candidates];
    candidates = [];
    return section;
  });
  const bundled = head.flatMap((line) =>
    line.startsWith("a=group:BUNDLE") ? [`a=group:BUNDLE ${active.join(" ")}`] : [line],
  );
  return join([bundled.filter((line) => !line.startsWith("a=group:LS")), ...sections]);
}

/** Accepted, although no track of ours is there: clients count on the section, and nothing is done with it. */
function mirrored(offered: string[]): string[] {
  const [media = "", ...rest] = offered;
  const kept = rest.filter((line) => !OF_SENDER.test(line));
  return [media.replace(/ \d+ /, " 9 "), ...kept.map((line) => MIRRORED.get(line) ?? line)];
}

function rejected([media = "", ...rest]: string[]): string[] {
  const kept = rest.filter((line) => /^a=(?:mid|rtpmap):/.test(line));
  return [media.replace(/ \d+ /, " 0 "), ...kept, "a=inactive"];
}

function split(sdp: string): Parts {
  const parts: Parts = { head: [], sections: [] };
  for (const line of lines(sdp)) {
    if (line.startsWith("m=")) parts.sections.push([line]);
    else (parts.sections.at(-1) ?? parts.head).push(line);
  }
  return parts;
}

function lines(text: string): string[] {
  return text.split("\r\n").filter((line) => line !== "");
}

function join(sections: string[][]): string {
  return `${sections.flat().join("\r\n")}\r\n`;
}

function isMedia([first = ""]: string[]): boolean {
  return !first.startsWith("m=application ");
}

function isRejected(section: string[]): boolean {
  return /^m=\S+ 0 /.test(section[0] ?? "") && !section.includes("a=bundle-only");
}

function midOf(section: string[]): string {
  return section.find((line) => line.startsWith("a=mid:"))?.slice("a=mid:".length) ?? "";
}

function sourceOf(line: string): number[] {
  const source = /^a=ssrc:(\d+)/.exec(line)?.[1];
  return source === undefined ? [] : [Number(source)];
}

// The library or our code acts on these. Transport attributes first, then those of data channels, then of audio and video.
const KNOWN_ATTRIBUTES = new Set([
  ...[
    "bundle-only",
    "candidate",
    "end-of-candidates",
    "fingerprint",
    "group",
    "ice-lite",
    "ice-options",
    "ice-pwd",
    "ice-ufrag",
  ],
  ...["inactive", "mid", "recvonly", "rtcp", "rtcp-mux", "rtcp-rsize", "sendonly", "sendrecv", "setup"],
  ...["max-message-size", "sctp-port"],
  ...[
    "extmap",
    "fmtp",
    "maxptime",
    "msid",
    "msid-semantic",
    "ptime",
    "rid",
    "rtcp-fb",
    "rtpmap",
    "simulcast",
  ],
  ...["ssrc", "ssrc-group"],
]);

/**
 * Removes unknown attributes from a description. The library would repeat them in its answer, and the client would take
 * them as agreed: after an echoed `sctp-init` it skips the handshake that data channels begin with.
 */
export function knownLines(sdp: string): string {
  return sdp
    .split("\r\n")
    .filter((line) => !line.startsWith("a=") || KNOWN_ATTRIBUTES.has(/^[^:]*/.exec(line.slice(2))?.[0] ?? ""))
    .join("\r\n");
}
