import assert from "node:assert/strict";
import { test } from "node:test";
import { createPublishedTrack, type PublishedTrack } from "./published-track.ts";
import { payloadTypeOf, sequenceOf, ssrcOf, timestampOf } from "./rtp-header.ts";

const OPUS = { payloadType: 100, name: "opus", clockRate: 48_000, parameters: undefined };

test("a packet goes to everyone subscribed, each with its own stream and payload type", () => {
  const { track } = createTrack();
  const alice = subscribe(track, { peer: "alice", ssrc: 11, payloadType: 111 });
  const bob = subscribe(track, { peer: "bob", ssrc: 22, payloadType: 109 });
  track.receive(packet({ sequence: 7, timestamp: 960 }));
  assert.deepEqual(alice, [{ ssrc: 11, payloadType: 111, sequence: 7, timestamp: 960 }]);
  assert.deepEqual(bob, [{ ssrc: 22, payloadType: 109, sequence: 7, timestamp: 960 }]);
  track.removeTarget("alice");
  track.receive(packet({ sequence: 8, timestamp: 1_920 }));
  assert.deepEqual([alice.length, bob.length], [1, 2]);
});

test("what is lost on the way in stays a gap; what is left out while muted does not become one", () => {
  const { track } = createTrack();
  const heard = subscribe(track, { peer: "alice", ssrc: 11, payloadType: 111 });
  const send = (sequence: number): void => track.receive(packet({ sequence, timestamp: sequence * 960 }));
  [1, 2, 4].forEach(send);
  track.setMuted(true);
  [5, 6, 7].forEach(send);
  track.setMuted(false);
  [8, 9].forEach(send);
  assert.deepEqual(
    heard.map(({ sequence }) => sequence),
    [1, 2, 4, 5, 6],
  );
  assert.deepEqual(heard.map(({ timestamp }) => timestamp).slice(-2), [8 * 960, 9 * 960]);
});

test("a publisher that begins a new stream goes on in the old one", () => {
  const { track } = createTrack();
  const heard = subscribe(track, { peer: "alice", ssrc: 11, payloadType: 111 });
  track.receive(packet({ sequence: 65_535, timestamp: 0xffff_fff0 }));
  track.receive(packet({ ssrc: 6, sequence: 400, timestamp: 5_000 }));
  track.receive(packet({ ssrc: 6, sequence: 401, timestamp: 5_960 }));
  assert.deepEqual(
    heard.map(({ sequence, ssrc }) => [sequence, ssrc]),
    [
      [65_535, 11],
      [0, 11],
      [1, 11],
    ],
  );
  const [, second, third] = heard;
  assert.equal(((third?.timestamp ?? 0) - (second?.timestamp ?? 0)) >>> 0, 960);
});

test("foreign payload types, short packets and pauses go nowhere", () => {
  const { track } = createTrack();
  const heard = subscribe(track, { peer: "alice", ssrc: 11, payloadType: 111 });
  track.receive(packet({ payloadType: 63 }));
  track.receive(Buffer.alloc(4));
  track.setPaused("alice", true);
  track.receive(packet({}));
  assert.deepEqual(heard, []);
});

test("loudness comes from the header extension", () => {
  const { track } = createTrack();
  for (const level of [10, 20, 90]) track.receive(packet({ level }));
  assert.deepEqual(track.takeLevel(), { track: "TR_1", packets: 3, loudPackets: 2, loudness: 15 });
  assert.equal(track.takeLevel(), undefined);
});

test("publishers hear how much arrived, and receivers are asked for no key frame of audio", () => {
  const { track, feedback } = createTrack();
  for (const sequence of [1, 2, 3, 5]) track.receive(packet({ sequence }));
  assert.equal(track.report(0)?.lostShare, 51 / 256);
  assert.deepEqual([feedback[0]?.[1], feedback[0]?.readUInt32BE(8), feedback[0]?.[12]], [201, 5, 51]);
  track.requestKeyFrame();
  assert.equal(feedback.length, 1);
});

interface Heard {
  ssrc: number;
  payloadType: number;
  sequence: number;
  timestamp: number;
}

function createTrack(): { track: PublishedTrack; feedback: Buffer[] } {
  const feedback: Buffer[] = [];
  const track = createPublishedTrack({
    sid: "TR_1",
    kind: "audio",
    codec: OPUS,
    levelExtension: 1,
    sendFeedback: (sent) => feedback.push(sent),
  });
  return { track, feedback };
}

function subscribe(
  track: PublishedTrack,
  target: { peer: string; ssrc: number; payloadType: number },
): Heard[] {
  const heard: Heard[] = [];
  track.addTarget({
    ...target,
    send: (sent) =>
      heard.push({
        ssrc: ssrcOf(sent),
        payloadType: payloadTypeOf(sent),
        sequence: sequenceOf(sent),
        timestamp: timestampOf(sent),
      }),
  });
  return heard;
}

interface PacketFields {
  ssrc?: number;
  payloadType?: number;
  sequence?: number;
  timestamp?: number;
  level?: number;
}

function packet({
  ssrc = 5,
  payloadType = 100,
  sequence = 1,
  timestamp = 0,
  level = 127,
}: PacketFields): Buffer {
  const bytes = Buffer.alloc(32);
  bytes[0] = 0x90;
  bytes[1] = payloadType;
  bytes.writeUInt16BE(sequence, 2);
  bytes.writeUInt32BE(timestamp, 4);
  bytes.writeUInt32BE(ssrc, 8);
  bytes.writeUInt16BE(0xbede, 12);
  bytes.writeUInt16BE(1, 14);
  bytes[16] = 0x10;
  bytes[17] = level;
  return bytes;
}
