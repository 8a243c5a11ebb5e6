import { AppError, limits, type IceCandidate } from "@vocalhost/protocol";
import { isUsableCandidate } from "./candidate.ts";

/** The parts of a client's offer that the answer depends on. */
export interface Offer {
  sdp: string;
  audio: { mid: string; direction: MediaDirection; opusPayloadType: number } | undefined;
  hasChannel: boolean;
}

export type MediaDirection = "sendrecv" | "sendonly" | "recvonly" | "inactive";

/**
 * Parses an offer and refuses those that cannot be answered, so that the peer connection sees plausible ones only.
 */
export function parseOffer(sdp: string): Offer {
  if (sdp.length > limits.sdpBytes) throw refusal(`is larger than ${limits.sdpBytes} bytes`);
  const lines = sdp.split(/\r\n|\n|\r/);
  if (lines[0] !== "v=0") throw refusal('must begin with "v=0"');
  if (count(lines, "a=candidate:") > limits.sdpCandidates) throw refusal("has too many candidates");
  const sections = mediaSections(lines);
  if (sections.length === 0) throw refusal("has no media lines");
  if (sections.length > limits.sdpMediaLines) throw refusal("has too many media lines");
  requireEverywhere(lines, sections, "a=ice-ufrag:");
  requireEverywhere(lines, sections, "a=ice-pwd:");
  requireEverywhere(lines, sections, "a=fingerprint:");
  const mids = sections.map((section) => value(section, "a=mid:"));
  if (mids.some((mid) => !mid)) throw refusal("has a media line without a=mid");
  if (new Set(mids).size !== mids.length) throw refusal("uses one a=mid twice");
  return {
    sdp: `${lines.filter(isUsableLine).join("\r\n").trimEnd()}\r\n`,
    audio: audioOf(sections),
    hasChannel: sections.some(([first]) => /^m=application [1-9]/.test(first ?? "")),
  };
}

/** Returns the offer without its candidates, and the candidates. */
export function splitCandidates(sdp: string): { sdp: string; candidates: IceCandidate[] } {
  const lines = sdp.split("\r\n");
  const candidates = mediaSections(lines).flatMap((section, at) => {
    const mid = value(section, "a=mid:") ?? null;
    return section
      .filter((line) => line.startsWith("a=candidate:"))
      .map((line) => ({ candidate: line.slice("a=".length), sdp_mid: mid, sdp_mline_index: at }));
  });
  return { sdp: lines.filter((line) => !isOfCandidates(line)).join("\r\n"), candidates };
}

function isOfCandidates(line: string): boolean {
  return line.startsWith("a=candidate:") || line === "a=end-of-candidates";
}

/** The answer must mirror the offer or browsers reject it. */
export function mirrored(direction: MediaDirection): MediaDirection {
  if (direction === "sendonly") return "recvonly";
  if (direction === "recvonly") return "sendonly";
  return direction;
}

function audioOf(sections: string[][]): Offer["audio"] {
  const section = sections.find((lines) => /^m=audio [1-9]/.test(lines[0] ?? ""));
  if (!section) return undefined;
  const opus = section.find((line) => /^a=rtpmap:\d{1,3} opus\/48000\/2$/i.test(line));
  if (!opus) throw refusal("offers audio without Opus");
  const directions = ["sendrecv", "sendonly", "recvonly", "inactive"] as const;
  return {
    mid: value(section, "a=mid:") ?? "0",
    direction: directions.find((direction) => section.includes(`a=${direction}`)) ?? "sendrecv",
    opusPayloadType: Number.parseInt(opus.slice("a=rtpmap:".length), 10),
  };
}

function isUsableLine(line: string): boolean {
  return !line.startsWith("a=candidate:") || isUsableCandidate(line);
}

function mediaSections(lines: string[]): string[][] {
  const sections: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("m=")) sections.push([line]);
    else sections.at(-1)?.push(line);
  }
  return sections;
}

function requireEverywhere(lines: string[], sections: string[][], prefix: string): void {
  const firstMedia = lines.findIndex((line) => line.startsWith("m="));
  if (lines.slice(0, firstMedia).some((line) => line.startsWith(prefix))) return;
  const active = sections.filter((section) => !/^m=\S+ 0 /.test(section[0] ?? ""));
  if (active.some((section) => value(section, prefix))) return;
  throw refusal(`has no ${prefix.slice(0, -1)}`);
}

function value(section: string[], prefix: string): string | undefined {
  const line = section.find((candidate) => candidate.startsWith(prefix));
  return line?.slice(prefix.length).trim() || undefined;
}

function count(lines: string[], prefix: string): number {
  return lines.filter((line) => line.startsWith(prefix)).length;
}

function refusal(what: string): AppError {
  return new AppError("INVALID_SDP", { message: `The session description ${what}` });
}
