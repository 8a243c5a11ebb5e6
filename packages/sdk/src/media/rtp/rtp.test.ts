import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRtpPacket, writeRtpPacket } from "./rtp.ts";

const packet = {
  payloadType: 111,
  marker: false,
  sequenceNumber: 7,
  timestamp: 960,
  ssrc: 42,
  payload: Uint8Array.of(1, 2, 3),
};

test("what is written is read back", () => {
  const anyPacket = fc.record(
    {
      payloadType: fc.integer({ min: 96, max: 127 }),
      marker: fc.boolean(),
      sequenceNumber: fc.nat(0xffff),
      timestamp: fc.nat(0xffffffff),
      ssrc: fc.nat(0xffffffff),
      payload: fc.uint8Array({ maxLength: 300 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(anyPacket, (one) => {
      const parsed = parseRtpPacket(writeRtpPacket(one));
      assert.deepEqual({ ...parsed, payload: Uint8Array.from(parsed!.payload) }, one);
    }),
  );
});

test("reads past contributors, header extension and padding", () => {
  const plain = [0x80, 0x6f, 0, 7, 0, 0, 3, 0xc0, 0, 0, 0, 42];
  const table: [string, number[], number[] | undefined][] = [
    ["plain", [...plain, 1, 2, 3], [1, 2, 3]],
    ["no payload", plain, []],
    ["two contributors", [0x82, ...plain.slice(1), 9, 9, 9, 9, 8, 8, 8, 8, 1, 2, 3], [1, 2, 3]],
    ["extension of one word", [0x90, ...plain.slice(1), 0xbe, 0xde, 0, 1, 0x10, 0xff, 0, 0, 1, 2], [1, 2]],
    ["extension without words", [0x90, ...plain.slice(1), 0xbe, 0xde, 0, 0, 1, 2], [1, 2]],
    ["padding", [0xa0, ...plain.slice(1), 1, 2, 0, 0, 3], [1, 2]],
    ["only padding", [0xa0, ...plain.slice(1), 0, 2], []],
    ["all of them", [0xb1, ...plain.slice(1), 9, 9, 9, 9, 0, 0, 0, 1, 5, 5, 5, 5, 1, 2, 1], [1, 2]],
    ["too short", plain.slice(0, 11), undefined],
    ["nothing", [], undefined],
    ["version 1", [0x40, ...plain.slice(1), 1], undefined],
    ["RTCP sender report", [0x80, 200, ...plain.slice(2), 1, 2, 3], undefined],
    ["contributors missing", [0x8f, ...plain.slice(1), 1, 2, 3], undefined],
    ["extension header missing", [0x90, ...plain.slice(1), 0xbe, 0xde], undefined],
    ["extension too long", [0x90, ...plain.slice(1), 0xbe, 0xde, 0xff, 0xff, 1, 2, 3, 4], undefined],
    ["padding of 0", [0xa0, ...plain.slice(1), 1, 2, 0], undefined],
    ["padding too long", [0xa0, ...plain.slice(1), 1, 2, 4], undefined],
  ];
  for (const [name, bytes, payload] of table) {
    const parsed = parseRtpPacket(Uint8Array.from(bytes));
    assert.deepEqual(parsed && [...parsed.payload], payload, name);
    if (parsed) assert.deepEqual({ ...parsed, payload: packet.payload }, packet, name);
  }
});

test("never throws, and the payload is a view", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const parsed = parseRtpPacket(bytes);
      if (parsed) assert.equal(parsed.payload.buffer, bytes.buffer);
    }),
    { numRuns: 2000 },
  );
  const offset = new Uint8Array([0xff, 0xff, 0xff, ...writeRtpPacket(packet)]).subarray(3);
  assert.deepEqual([...parseRtpPacket(offset)!.payload], [1, 2, 3]);
});

test("counters that run over wrap around", () => {
  const parsed = parseRtpPacket(
    writeRtpPacket({ ...packet, sequenceNumber: 0x1_0002, timestamp: 0x1_0000_0003 }),
  );
  assert.equal(parsed?.sequenceNumber, 2);
  assert.equal(parsed?.timestamp, 3);
});
