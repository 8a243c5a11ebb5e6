import { limits } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { mirrored, parseOffer, splitCandidates } from "./offer.ts";

const SESSION = ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0"];
const KEYS = ["a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdef01234567", "a=fingerprint:sha-256 AA:BB"];
const AUDIO = ["m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "a=mid:0", "a=sendrecv", "a=rtpmap:111 opus/48000/2"];
const DATA = ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1"];

test("a browser's offer is taken, with what the answer depends on", () => {
  const offer = parseOffer(sdp(SESSION, AUDIO, KEYS, DATA, KEYS));
  assert.deepEqual(offer.audio, { mid: "0", direction: "sendrecv", opusPayloadType: 111 });
  assert.equal(offer.sdp, sdp(SESSION, AUDIO, KEYS, DATA, KEYS));
});

test("offers that can be answered", () => {
  const without = (lines: string[], start: string) => lines.filter((line) => !line.startsWith(start));
  check({ offer: [SESSION, KEYS, AUDIO, DATA], audio: { mid: "0" } }); // keys of the whole session
  check({ offer: [SESSION, DATA, KEYS], audio: undefined });
  check({ offer: [SESSION, KEYS, without(AUDIO, "a=sendrecv")], audio: { direction: "sendrecv" } });
  for (const direction of ["sendonly", "recvonly", "inactive"])
    check({
      offer: [SESSION, KEYS, without(AUDIO, "a=sendrecv"), [`a=${direction}`]],
      audio: { direction: direction as "sendonly" },
    });
  check({
    offer: [SESSION, KEYS, ["m=audio 9 UDP/TLS/RTP/SAVPF 96", "a=mid:mic", "a=rtpmap:96 OPUS/48000/2"]],
    audio: { mid: "mic", opusPayloadType: 96 },
  });
  // A line the client has given up (port 0) needs nothing.
  check({ offer: [SESSION, ["m=audio 0 UDP/TLS/RTP/SAVPF 0", "a=mid:0"], DATA, KEYS], audio: undefined });
});

test("candidates can be taken out of an offer, with the line they are of", () => {
  const host = "a=candidate:1 1 UDP 2122260223 192.0.2.7 50000 typ host";
  const offer = sdp(SESSION, KEYS, [AUDIO[0] ?? "", host, ...AUDIO.slice(1)], DATA, ["a=end-of-candidates"]);
  assert.deepEqual(splitCandidates(offer), {
    sdp: sdp(SESSION, KEYS, AUDIO, DATA),
    candidates: [{ candidate: host.slice("a=".length), sdp_mid: "0", sdp_mline_index: 0 }],
  });
});

test("any line ends are taken, ours are given", () => {
  for (const end of ["\n", "\r", "\r\n", "\r\n\r\n\r\n"]) {
    const text = [...SESSION, ...KEYS, ...AUDIO].join(end === "\r\n\r\n\r\n" ? "\r\n" : end) + end;
    assert.equal(parseOffer(text).sdp, sdp(SESSION, KEYS, AUDIO));
  }
});

test("offers that could never be answered are refused with the reason", () => {
  const many = (count: number, line: string) => Array.from({ length: count }, () => line);
  const refused: [string, RegExp][] = [
    ["", /must begin with "v=0"/],
    ["hello", /must begin with "v=0"/],
    [sdp(["v=1"], KEYS, AUDIO), /must begin with "v=0"/],
    [sdp(SESSION, KEYS), /has no media lines/],
    [sdp(SESSION, KEYS, AUDIO, ["a=x:".padEnd(limits.sdpBytes, "x")]), /is larger than 65536 bytes/],
    [sdp(SESSION, KEYS, AUDIO, many(limits.sdpCandidates + 1, "a=candidate:1")), /has too many candidates/],
    [
      sdp(
        SESSION,
        KEYS,
        ...Array.from({ length: limits.sdpMediaLines + 1 }, (_, at) => ["m=video 9 x 96", `a=mid:${at}`]),
      ),
      /has too many media lines/,
    ],
    [sdp(SESSION, KEYS.slice(1), AUDIO), /has no a=ice-ufrag/],
    [sdp(SESSION, [KEYS[0]!, KEYS[2]!], AUDIO), /has no a=ice-pwd/],
    [sdp(SESSION, KEYS.slice(0, 2), AUDIO), /has no a=fingerprint/],
    [sdp(SESSION, ["m=audio 0 x 0", "a=mid:0"], KEYS, DATA), /has no a=ice-ufrag/],
    [
      sdp(
        SESSION,
        KEYS,
        AUDIO.filter((line) => line !== "a=mid:0"),
      ),
      /has a media line without a=mid/,
    ],
    [sdp(SESSION, KEYS, AUDIO, [DATA[0]!, "a=mid:0"]), /uses one a=mid twice/],
    [sdp(SESSION, KEYS, AUDIO.slice(0, 3), ["a=rtpmap:0 PCMU/8000"]), /offers audio without Opus/],
  ];
  for (const [text, reason] of refused)
    assert.throws(
      () => parseOffer(text),
      { code: "INVALID_SDP", status: 400, message: reason },
      String(reason),
    );
});

test("the answer's direction mirrors the offer's", () => {
  assert.deepEqual((["sendrecv", "sendonly", "recvonly", "inactive"] as const).map(mirrored), [
    "sendrecv",
    "recvonly",
    "sendonly",
    "inactive",
  ]);
});

interface Check {
  offer: string[][];
  audio: Partial<ReturnType<typeof parseOffer>["audio"]>;
}

function check({ offer, audio }: Check): void {
  const parsed = parseOffer(sdp(...offer)).audio;
  assert.deepEqual(parsed, audio && { ...parsed, ...audio });
}

function sdp(...parts: string[][]): string {
  return parts
    .flat()
    .map((line) => `${line}\r\n`)
    .join("");
}
