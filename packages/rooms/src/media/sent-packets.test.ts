import assert from "node:assert/strict";
import { test } from "node:test";
import { lostPackets } from "./rtcp.ts";
import { createSentPackets } from "./subscriber-connection.ts";

test("what a receiver has lost is found by the numbers it names and marks", () => {
  const request = Buffer.from([0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff, 0x80, 0x01]);
  assert.deepEqual([...lostPackets(request)], [65_535, 0, 15]);
  const keyFrameRequest = Buffer.from([0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
  assert.deepEqual([...lostPackets(keyFrameRequest)], []);
});

test("the last packets are kept as they were sent, and given out five times", () => {
  const sent = createSentPackets();
  const packet = rtp(7);
  sent.keep(packet);
  packet[11] = 9; // rewritten for the next receiver
  for (let time = 1; time <= 5; time += 1) assert.deepEqual(sent.again(7), rtp(7));
  assert.equal(sent.again(7), undefined);
  sent.keep(rtp(8));
  sent.keep(rtp(8 + 512));
  assert.equal(sent.again(8), undefined);
  assert.deepEqual(sent.again(8 + 512), rtp(8 + 512));
});

function rtp(sequence: number): Buffer {
  const packet = Buffer.alloc(12);
  packet[0] = 0x80;
  packet.writeUInt16BE(sequence, 2);
  return packet;
}
