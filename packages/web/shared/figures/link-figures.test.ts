import assert from "node:assert/strict";
import { test } from "node:test";
import { fromPeerStats, toLinkFigures, type PeerStat } from "./link-figures.ts";

const stats: PeerStat[] = [
  { id: "T", type: "transport", selectedCandidatePairId: "P2" },
  { id: "P1", type: "candidate-pair", bytesSent: 1, bytesReceived: 1 },
  {
    id: "P2",
    type: "candidate-pair",
    localCandidateId: "L",
    remoteCandidateId: "R",
    bytesSent: 4000,
    bytesReceived: 6000,
    currentRoundTripTime: 0.012,
  },
  { id: "L", type: "local-candidate", candidateType: "host", protocol: "udp" },
  { id: "R", type: "remote-candidate", candidateType: "relay", protocol: "udp" },
  {
    id: "I",
    type: "inbound-rtp",
    kind: "audio",
    jitter: 0.004,
    packetsReceived: 99,
    packetsLost: 1,
    jitterBufferDelay: 50,
    jitterBufferEmittedCount: 1000,
  },
  { id: "V", type: "inbound-rtp", kind: "video", jitter: 9 },
];

test("figures come from the chosen pair and the audio stream", () => {
  assert.deepEqual(fromPeerStats(stats, 5), {
    atMs: 5,
    bytesUp: 4000,
    bytesDown: 6000,
    roundTripMs: 12,
    route: "UDP, relayed",
    jitterMs: 4,
    packetsReceived: 99,
    packetsLost: 1,
    waited: { totalMs: 50_000, samples: 1000 },
  });
});

test("without a transport entry the nominated pair counts", () => {
  const sample = fromPeerStats(
    [{ id: "P", type: "candidate-pair", nominated: true, state: "succeeded", bytesSent: 7 }],
    0,
  );
  assert.equal(sample.bytesUp, 7);
});

test("rates come from two samples, loss from the totals", () => {
  const before = { atMs: 0, bytesUp: 1000, bytesDown: 2000 };
  const now = { atMs: 2000, bytesUp: 5000, bytesDown: 10_000, packetsReceived: 99, packetsLost: 1 };
  const figures = toLinkFigures(before, now);
  assert.equal(figures.upKbps, 16);
  assert.equal(figures.downKbps, 32);
  assert.equal(figures.lossPercent, 1);
});

test("the buffer is what sound waited lately", () => {
  const at = (totalMs: number, samples: number, atMs: number) => ({
    atMs,
    bytesUp: 0,
    bytesDown: 0,
    waited: { totalMs, samples },
  });
  assert.equal(toLinkFigures(at(1000, 10, 0), at(1400, 20, 1000)).bufferMs, 40);
  assert.equal(toLinkFigures(undefined, at(1000, 10, 0)).bufferMs, 100);
  assert.equal(toLinkFigures(at(1000, 10, 0), at(1000, 10, 1000)).bufferMs, undefined);
});

test("a first sample and one with counters set back give no rate", () => {
  const now = { atMs: 2000, bytesUp: 10, bytesDown: 10 };
  assert.equal(toLinkFigures(undefined, now).upKbps, 0);
  assert.equal(toLinkFigures({ atMs: 0, bytesUp: 99, bytesDown: 99 }, now).downKbps, 0);
  assert.equal(toLinkFigures(undefined, now).lossPercent, undefined);
});
