/** The parts of a participant's description that our answer and the room depend on. */
export interface Description {
  sdp: string;
  ufrag: string;
  password: string;
  fingerprint: string | undefined;
  setup: string | undefined;
  sections: Section[];
}

export interface Section {
  kind: "audio" | "video" | "application";
  mid: string;
  rejected: boolean;
  direction: Direction;
  /** The sender's own name of its track: the second word of `a=msid`. */
  trackId: string | undefined;
  codecs: Codec[];
  /** Header extensions: name to number. */
  extensions: Map<string, number>;
  /** Sources of the section, where it names them. */
  ssrcs: number[];
  /** Names of the encodings that it would send of one picture. */
  layers: string[];
  sctpPort: number | undefined;
  maxMessageSize: number | undefined;
}

export interface Codec {
  payloadType: number;
  name: string;
  clockRate: number;
  parameters: string | undefined;
}

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive";

/** The description cannot be used; the message completes "The session description". */
export class DescriptionRefused extends Error {}

const SDP_MAX_BYTES = 256 * 1024;
const SECTIONS_MAX = 128; // a long life in a busy room
const DIRECTIONS = ["sendrecv", "sendonly", "recvonly", "inactive"] as const;

/** Refuses what could never be used, so that the native parser only ever sees a plausible description. */
export function parseDescription(sdp: string): Description {
  if (sdp.length > SDP_MAX_BYTES) throw new DescriptionRefused(`is larger than ${SDP_MAX_BYTES} bytes`);
  const lines = sdp.split(/\r\n|\n|\r/).filter((line) => !line.startsWith("a=candidate:"));
  if (lines[0] !== "v=0") throw new DescriptionRefused('must begin with "v=0"');
  const sections = splitSections(lines).map(toSection);
  if (sections.length === 0) throw new DescriptionRefused("has no media lines");
  if (sections.length > SECTIONS_MAX) throw new DescriptionRefused("has too many media lines");
  if (new Set(sections.map(({ mid }) => mid)).size !== sections.length)
    throw new DescriptionRefused("uses one a=mid twice");
  return {
    sdp: `${lines.join("\r\n").trimEnd()}\r\n`,
    ufrag: required(lines, "a=ice-ufrag:"),
    password: required(lines, "a=ice-pwd:"),
    fingerprint: value(lines, "a=fingerprint:"),
    setup: value(lines, "a=setup:"),
    sections,
  };
}

/** As arguments of the library, which takes no undefined for them. */
export function parametersOf({ parameters }: Codec): [string] | [] {
  return parameters === undefined ? [] : [parameters];
}

export function isSending({ rejected, direction }: Section): boolean {
  return !rejected && (direction === "sendonly" || direction === "sendrecv");
}

function toSection(lines: string[]): Section {
  const [media = ""] = lines;
  const [kind, port] = media.slice(2).split(" ");
  if (kind !== "audio" && kind !== "video" && kind !== "application")
    throw new DescriptionRefused("has a media line of an unknown kind");
  const mid = value(lines, "a=mid:");
  if (!mid || !/^[\w+.-]{1,32}$/.test(mid)) throw new DescriptionRefused("has a media line without a=mid");
  return {
    kind,
    mid,
    rejected: port === "0" && !lines.includes("a=bundle-only"),
    direction: DIRECTIONS.find((direction) => lines.includes(`a=${direction}`)) ?? "sendrecv",
    trackId: value(lines, "a=msid:")?.split(" ")[1],
    codecs: codecsOf(lines),
    extensions: new Map(
      all(lines, "a=extmap:").flatMap((text) => {
        const match = /^(\d{1,3})(?:\/\w+)? (\S+)/.exec(text);
        return match ? [[match[2] ?? "", Number(match[1])] as const] : [];
      }),
    ),
    ssrcs: [...new Set(all(lines, "a=ssrc:").map((text) => Number.parseInt(text, 10) >>> 0))],
    layers: layersOf(lines),
    sctpPort: numberOf(lines, "a=sctp-port:"),
    maxMessageSize: numberOf(lines, "a=max-message-size:"),
  };
}

/** One name for each encoding, alternatives left out. */
function layersOf(lines: string[]): string[] {
  const sent = /\bsend (\S+)/.exec(value(lines, "a=simulcast:") ?? "")?.[1] ?? "";
  const names = sent.split(";").map((names) => names.split(",", 1)[0]?.replace(/^~/, "") ?? "");
  return names.filter((name) => /^[\w-]{1,32}$/.test(name));
}

function numberOf(lines: string[], prefix: string): number | undefined {
  const number = Number(value(lines, prefix));
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function codecsOf(lines: string[]): Codec[] {
  const parameters = new Map(
    all(lines, "a=fmtp:").map((text) => [Number.parseInt(text, 10), text.slice(text.indexOf(" ") + 1)]),
  );
  return all(lines, "a=rtpmap:").flatMap((text) => {
    const match = /^(\d{1,3}) ([\w-]+)\/(\d+)/.exec(text);
    if (!match) return [];
    const payloadType = Number(match[1]);
    return [
      {
        payloadType,
        name: (match[2] ?? "").toLowerCase(),
        clockRate: Number(match[3]),
        parameters: parameters.get(payloadType),
      },
    ];
  });
}

function splitSections(lines: string[]): string[][] {
  const sections: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("m=")) sections.push([line]);
    else sections.at(-1)?.push(line);
  }
  return sections;
}

function required(lines: string[], prefix: string): string {
  const found = value(lines, prefix);
  if (!found) throw new DescriptionRefused(`has no ${prefix.slice(0, -1)}`);
  return found;
}

function value(lines: string[], prefix: string): string | undefined {
  return all(lines, prefix)[0]?.trim() || undefined;
}

function all(lines: string[], prefix: string): string[] {
  return lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
}
