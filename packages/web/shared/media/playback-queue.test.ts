import assert from "node:assert/strict";
import { test } from "node:test";
import { PlaybackQueue } from "./playback-queue.ts";

const RATE = 24_000;
const chunk = (ms: number) => new Float32Array((RATE / 1000) * ms).fill(0.5);

/** Plays for some milliseconds in 128-sample blocks; returns how many of them sounded. */
function play(queue: PlaybackQueue, ms: number): number {
  const block = new Float32Array(128);
  let sounded = 0;
  for (let samples = 0; samples < (ms * RATE) / 1000; samples += block.length) {
    if (queue.pull(block)) sounded++;
  }
  return sounded;
}

test("sound starts when a chunk is in hand, and all of it is played", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  assert.equal(play(queue, 50), 0);
  queue.push(chunk(60));
  assert.ok(play(queue, 100) >= 11);
  assert.equal(queue.bufferedMs, 0);
  assert.equal(queue.gaps, 0);
});

test("a short last chunk is played after a bounded wait", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  queue.push(chunk(10));
  assert.equal(play(queue, 20), 0);
  assert.ok(play(queue, 60) > 0);
});

test("running dry within a voice is a gap, and widens the cushion", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  queue.push(chunk(40));
  play(queue, 100);
  queue.push(chunk(40));
  assert.equal(queue.gaps, 1);
  queue.push(chunk(30));
  assert.equal(play(queue, 5), 0, "waits for 80 ms now");
  queue.push(chunk(40));
  assert.ok(play(queue, 50) > 0);
});

test("a pause between answers is no gap", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  queue.push(chunk(40));
  play(queue, 1000);
  queue.push(chunk(40));
  assert.equal(queue.gaps, 0);
});

test("sound starts and breaks off without a click", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  queue.push(chunk(40));
  const samples: number[] = [];
  const block = new Float32Array(128);
  for (let count = 0; count < 12; count++) {
    queue.pull(block);
    samples.push(...block);
  }
  const jumps = samples.slice(1).map((sample, index) => Math.abs(sample - samples[index]!));
  assert.ok(Math.max(...jumps) < 0.02, `largest jump ${Math.max(...jumps)}`);
});

test("clearing forgets the rest and is no gap", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  queue.push(chunk(1000));
  play(queue, 100);
  queue.clear();
  assert.equal(queue.bufferedMs, 0);
  play(queue, 10);
  queue.push(chunk(40));
  assert.equal(queue.gaps, 0);
});

test("the queue is bounded", () => {
  const queue = new PlaybackQueue({ sampleRateHz: RATE });
  for (let seconds = 0; seconds < 300; seconds++) queue.push(chunk(1000));
  assert.ok(queue.bufferedMs <= 122_000);
});
