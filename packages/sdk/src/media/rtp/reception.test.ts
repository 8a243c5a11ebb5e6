import assert from "node:assert/strict";
import { test } from "node:test";
import { createReception } from "./reception.ts";
import { readRtcp, writeReceiverReport } from "./rtcp.ts";
import type { RtpPacket } from "./rtp.ts";

test("counts what was lost since the report before, and in all, over the wrap of the numbers", () => {
  const { receive, report } = start(65_500);
  for (let at = 0; at < 100; at += 1) if (at % 4 !== 3) receive(at);
  const first = report();
  assert.deepEqual([first?.fractionLost, first?.lost], [Math.floor((256 * 24) / 99), 24]); // the last one is not counted as lost yet
  for (let at = 100; at < 150; at += 1) receive(at);
  const second = report();
  assert.deepEqual([second?.fractionLost, second?.lost], [Math.floor(256 / 51), 25]);
  assert.equal(second?.highestSequence, 65_500 + 149);
  assert.equal(report(), undefined, "nothing came since");
});

test("a late packet is no loss, and a duplicate makes none good that is not there", () => {
  const { receive, report } = start(10);
  for (const at of [0, 2, 1, 3, 3, 3]) receive(at);
  assert.deepEqual([report()?.fractionLost, report()], [0, undefined]);
});

test("measures how uneven packets arrive, in units of the clock", () => {
  const even = start(1);
  for (let at = 0; at < 200; at += 1) even.receive(at, 20 * at);
  assert.equal(even.report()?.jitter, 0);
  const uneven = start(1);
  for (let at = 0; at < 400; at += 1) uneven.receive(at, 20 * at + (at % 2) * 5);
  assert.equal(uneven.report()?.jitter, 5 * 48);
});

test("a sender that starts again is counted anew", () => {
  const { receive, report } = start(1);
  receive(0);
  receive(9);
  assert.equal(report()?.lost, 8);
  receive(30_000, 0, 7);
  assert.deepEqual([report()?.ssrc, report()], [7, undefined]);
});

test("says how long ago the sender told its time, so that it can know the way there and back", () => {
  const { reception, receive, report } = start(1);
  receive(0, 1_000);
  assert.deepEqual([report()?.lastReport], [0]);
  receive(1, 2_000);
  reception.senderReported({ ssrc: 5, reportId: 0xabcdef });
  reception.senderReported({ ssrc: 99, reportId: 1 });
  receive(2, 2_500);
  const told = report();
  assert.deepEqual([told?.lastReport, told?.delaySinceLastReport], [0xabcdef, 32_768]);
});

test("a report is written as it is read", () => {
  const { receive, report } = start(1);
  for (const at of [0, 1, 3]) receive(at);
  const told = report();
  assert.ok(told);
  const packet = writeReceiverReport(0x1234, told);
  assert.deepEqual(readRtcp(packet), { sender: undefined, receptions: [{ ssrc: 5, fractionLost: 64 }] });
  assert.deepEqual([packet.length, packet.readUInt32BE(4)], [32, 0x1234]);
});

test("a sender's report and what follows it are read, whatever is between and however it is cut", () => {
  const sender = Buffer.alloc(52);
  sender.set([0x81, 200, 0, 12]);
  sender.writeUInt32BE(77, 4);
  sender.writeUInt32BE(0x1111_2222, 8);
  sender.writeUInt32BE(0x3333_4444, 12);
  sender.writeUInt32BE(88, 28);
  sender[32] = 128;
  const description = Buffer.from([0x81, 202, 0, 1, 0, 0, 0, 77]);
  const feedback = Buffer.from([0x81, 206, 0, 2, 0, 0, 0, 77, 0, 0, 0, 88]);
  const compound = Buffer.concat([sender, description, feedback]);
  assert.deepEqual(readRtcp(compound), {
    sender: { ssrc: 77, reportId: 0x2222_3333 },
    receptions: [{ ssrc: 88, fractionLost: 128 }],
  });
  for (let length = 0; length < compound.length; length += 1) readRtcp(compound.subarray(0, length));
  for (let at = 0; at < compound.length; at += 1) {
    const broken = Buffer.from(compound);
    broken[at] = 0xff;
    readRtcp(broken);
  }
});

function start(firstNumber: number) {
  let nowMs = 0;
  const reception = createReception({ clockRateHz: 48_000, nowMs: () => nowMs });
  return {
    reception,
    receive(at: number, arrivesMs = 20 * at, ssrc = 5) {
      nowMs = arrivesMs;
      const sequenceNumber = (firstNumber + at) & 0xffff;
      const packet: RtpPacket = {
        payloadType: 111,
        marker: false,
        sequenceNumber,
        timestamp: 960 * at,
        ssrc,
        payload: new Uint8Array(1),
      };
      reception.receive(packet);
    },
    report: () => reception.report(),
  };
}
