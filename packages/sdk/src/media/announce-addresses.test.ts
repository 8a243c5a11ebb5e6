import assert from "node:assert/strict";
import { test } from "node:test";
import { announceAddresses } from "./announce-addresses.ts";

const ANSWER = [
  "v=0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "a=mid:0",
  "a=candidate:2 1 UDP 2116026111 fd00::2 40123 typ host",
  "a=candidate:1 1 UDP 2114977791 10.0.0.5 40123 typ host",
  "a=candidate:5 1 UDP 1047551 198.51.100.9 50007 typ relay raddr 0.0.0.0 rport 0",
  "a=end-of-candidates",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "a=candidate:1 1 UDP 2114977791 10.0.0.5 40123 typ host",
  "",
].join("\r\n");

test("clients are told the addresses we were given, in their order, and none of our own", () => {
  const announced = announceAddresses(ANSWER, ["203.0.113.7", "2001:db8::7"]);
  const hosts = [
    "a=candidate:h1 1 UDP 2130706431 203.0.113.7 40123 typ host",
    "a=candidate:h2 1 UDP 2130706175 2001:db8::7 40123 typ host",
  ];
  const lines = ANSWER.split("\r\n");
  assert.deepEqual(announced.split("\r\n"), [
    ...lines.slice(0, 3),
    ...hosts,
    ...lines.slice(5, 8),
    ...hosts,
    "",
  ]);
});

test("without addresses the answer stays as it is", () => {
  assert.equal(announceAddresses(ANSWER, []), ANSWER);
});
