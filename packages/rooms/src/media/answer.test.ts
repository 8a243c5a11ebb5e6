import assert from "node:assert/strict";
import { test } from "node:test";
import { answerForParticipant, offerForLibrary } from "./answer.ts";
import { parseDescription } from "./sdp.ts";

const SESSION = ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0"];
const KEYS = [
  "a=ice-ufrag:abcd",
  "a=ice-pwd:0123456789abcdef01234567",
  "a=fingerprint:sha-256 AA",
  "a=setup:actpass",
];
const DATA = [
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "a=mid:0",
  "a=sctp-port:5000",
  "a=sctp-init:new",
];
const SIMULCAST = ["a=rid:q send", "a=rid:f send", "a=simulcast:send q;f"];
const ANSWER = [
  ...["v=0", "o=rtc 1 0 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE rtp data", "a=setup:active"],
  ...["a=ice-ufrag:ours", "a=ice-pwd:ourpassword", "a=fingerprint:sha-256 BB"],
  ...["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:rtp", "a=candidate:1 1 UDP 1 10.0.0.1 9 typ host"],
  ...["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:data", "a=sctp-port:5000"],
];

test("every section is answered in its place and mirrored", () => {
  const { text, sections } = answerTo(
    DATA,
    audio("1", "sendonly"),
    video("2", "inactive"),
    video("3", "sendonly"),
    ["m=video 9 UDP/TLS/RTP/SAVPF 99", "a=mid:4", "a=sendonly", "a=rtpmap:99 chicken/90000"],
  );
  assert.deepEqual(
    sections.map(({ kind, mid, direction, rejected }) => `${kind} ${mid} ${direction} ${rejected}`),
    [
      "application 0 sendrecv false",
      "audio 1 recvonly false",
      "video 2 inactive false",
      "video 3 recvonly false",
      "video 4 inactive true",
    ],
  );
  assert.match(text, /^a=group:BUNDLE 0 1 2 3\r$/m);
  assert.equal(text.match(/^a=ice-ufrag:/gm)?.length, 1);
  assert.equal(text.match(/^a=candidate:/gm)?.length, 1);
  assert.doesNotMatch(text, /rtp\r$|sctp-init/m);
});

test("of a camera's layers the largest is asked for, with what names it in a packet", () => {
  const { text } = answerTo(DATA, [...video("1", "sendonly"), ...SIMULCAST]);
  assert.deepEqual(text.match(/^a=(?:rid|simulcast|extmap):.*(?=\r$)/gm), [
    "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid",
    "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
    "a=rid:f recv",
    "a=simulcast:recv f",
  ]);
  const ended = answerTo(DATA, [...video("1", "inactive"), ...SIMULCAST]);
  assert.doesNotMatch(ended.text, /simulcast/);
  assert.match(ended.text, /rtp-stream-id/); // or it could not begin again
});

test("the library sees one media section, whatever is offered", () => {
  const offer = parseDescription(sdp(SESSION, KEYS, DATA, audio("1", "sendonly"), video("2", "sendonly")));
  const seen = parseDescription(offerForLibrary(offer, { ufrag: "first", password: "firstpassword" }));
  assert.deepEqual(
    seen.sections.map(({ kind, mid }) => `${kind} ${mid}`),
    ["audio rtp", "application data"],
  );
  assert.deepEqual([seen.ufrag, seen.fingerprint], ["first", "sha-256 AA"]);
  assert.doesNotMatch(seen.sdp, /sctp-init/);
});

function answerTo(...parts: string[][]) {
  const offer = parseDescription(sdp(SESSION, KEYS, ...parts));
  const text = answerForParticipant({ offer, published: new Map(), answer: sdp(ANSWER) });
  return { text, sections: parseDescription(text).sections };
}

function audio(mid: string, direction: string): string[] {
  return ["m=audio 9 UDP/TLS/RTP/SAVPF 111", `a=mid:${mid}`, `a=${direction}`, "a=rtpmap:111 opus/48000/2"];
}

function video(mid: string, direction: string): string[] {
  return [
    ...["m=video 9 UDP/TLS/RTP/SAVPF 96", `a=mid:${mid}`, `a=${direction}`, "a=rtpmap:96 VP8/90000"],
    ...[
      "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid",
      "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
    ],
  ];
}

function sdp(...parts: string[][]): string {
  return `${parts.flat().join("\r\n")}\r\n`;
}
