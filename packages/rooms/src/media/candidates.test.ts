import assert from "node:assert/strict";
import { test } from "node:test";
import { announceAddress, isUsableCandidate, withoutCandidates } from "./candidates.ts";

test("names are never looked up, private addresses only when allowed", () => {
  const usable = (address: string, allowPrivate = false): boolean =>
    isUsableCandidate(`candidate:1 1 udp 2122260223 ${address} 5000 typ host`, { allowPrivate });
  for (const address of ["93.184.216.34", "2606:2800:220:1::1"]) assert.ok(usable(address), address);
  for (const address of [
    "10.1.2.3",
    "127.0.0.1",
    "192.168.1.9",
    "172.20.0.1",
    "169.254.169.254",
    "::1",
    "fd00::2",
  ]) {
    assert.ok(!usable(address), address);
    assert.ok(usable(address, true), address);
  }
  for (const address of ["host.example", "something.local", "", "1.2.3"])
    assert.ok(!usable(address, true), address);
});

test("the announced address stands for all of the machine's own, once a section", () => {
  const sdp = [
    "v=0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "a=candidate:1 1 UDP 2114977791 10.0.0.5 7882 typ host",
    "a=candidate:2 1 UDP 2114977535 10.0.1.5 7882 typ host",
    "a=candidate:3 1 UDP 1678769919 1.2.3.4 40000 typ srflx raddr 10.0.0.5 rport 7882",
    "a=end-of-candidates",
  ].join("\r\n");
  assert.deepEqual(announceAddress(sdp, "203.0.113.7").match(/^a=candidate:.*$/gm), [
    "a=candidate:1 1 UDP 2114977791 203.0.113.7 7882 typ host",
  ]);
});

test("a description without candidates keeps everything else", () => {
  const line = "a=candidate:1 1 UDP 2122260223 192.0.2.1 5000 typ host\r\n";
  const rest = "a=ice-ufrag:abcd\r\na=setup:actpass\r\n";
  assert.equal(withoutCandidates(`v=0\r\n${line}${rest}${line}a=end-of-candidates\r\n`), `v=0\r\n${rest}`);
});
