import assert from "node:assert/strict";
import { test } from "node:test";
import { DescriptionRefused, isSending, parseDescription } from "./sdp.ts";

const SESSION = ["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0"];
const KEYS = ["a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdef01234567"];
const DATA = ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:0"];
const AUDIO = [
  "m=audio 9 UDP/TLS/RTP/SAVPF 111 63",
  "a=mid:1",
  "a=sendonly",
  "a=msid:stream track-of-alice",
  "a=extmap:14 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
  "a=rtpmap:111 opus/48000/2",
  "a=fmtp:111 minptime=10;useinbandfec=1",
  "a=rtpmap:63 red/48000/2",
];

test("a description is taken apart", () => {
  const { ufrag, password, sections } = parseDescription(sdp(SESSION, DATA, KEYS, AUDIO, KEYS));
  assert.deepEqual([ufrag, password], ["abcd", "0123456789abcdef01234567"]);
  const [data, audio] = sections;
  assert.equal(data?.kind, "application");
  assert.deepEqual(
    [audio?.mid, audio?.direction, audio?.trackId, audio?.codecs[0]],
    [
      "1",
      "sendonly",
      "track-of-alice",
      { payloadType: 111, name: "opus", clockRate: 48_000, parameters: "minptime=10;useinbandfec=1" },
    ],
  );
  assert.equal(audio?.extensions.get("urn:ietf:params:rtp-hdrext:ssrc-audio-level"), 14);
  assert.ok(audio && isSending(audio));
});

test("candidates in it are not believed", () => {
  const { sdp: kept } = parseDescription(
    sdp(SESSION, DATA, KEYS, ["a=candidate:1 1 udp 1 10.0.0.1 9 typ host"]),
  );
  assert.doesNotMatch(kept, /a=candidate/);
});

test("what could never be used is refused", () => {
  const refused = [
    "",
    "garbage",
    sdp(SESSION),
    sdp(SESSION, DATA),
    sdp(SESSION, DATA, KEYS, AUDIO, ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:1"]),
    sdp(SESSION, ["m=chicken 9 UDP 1", "a=mid:0"], KEYS),
    sdp(SESSION, ["m=audio 9 UDP/TLS/RTP/SAVPF 111"], KEYS),
    sdp(SESSION, KEYS, ...Array.from({ length: 200 }, (_, at) => ["m=audio 9 X 1", `a=mid:${at}`])),
    sdp(SESSION, DATA, KEYS, ["a".repeat(300_000)]),
  ];
  for (const text of refused) assert.throws(() => parseDescription(text), DescriptionRefused);
});

test("the layers of a camera and the SSRCs of a track are found", () => {
  const { sections } = parseDescription(
    sdp(SESSION, [...AUDIO, "a=ssrc:4000000000 cname:x", "a=ssrc:4000000000 msid:- y"], KEYS, [
      "m=video 9 UDP/TLS/RTP/SAVPF 96",
      "a=mid:2",
      "a=simulcast:send q;h,x;~f;%",
    ]),
  );
  assert.deepEqual(sections[0]?.ssrcs, [4_000_000_000]);
  assert.deepEqual(sections[1]?.layers, ["q", "h", "f"]);
});

function sdp(...parts: string[][]): string {
  return `${parts.flat().join("\r\n")}\r\n`;
}
