import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "../testing/manual-clock.ts";
import { createPlayout, type PlayoutOptions } from "./playout.ts";

test("plays in equal chunks at real time, and tells of silence", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(60));
  clock.runUntil(85);
  assert.deepEqual(sent, ["0: 1…20", "20: 21…40", "40: 41…60", "60: -", "80: -"]);
  assert.equal(playout.playedSamples, 60);
  assert.equal(playout.queuedSamples, 0);
});

test("a short tail waits one interval for its rest, then silence completes it", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(25));
  clock.runUntil(65);
  assert.deepEqual(sent, ["0: 1…20", "20: -", "40: 21…25+15", "60: -"]);
  assert.equal(playout.playedSamples, 25);
});

test("a tail whose rest comes in time is not padded", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(25));
  clock.runUntil(25);
  playout.write(ramp(15, 26));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: 1…20", "20: -", "40: 21…40"]);
});

test("says when the bot begins to be heard, and when it has been quiet for a while", () => {
  const { playout, clock, speaking } = start();
  clock.runUntil(50);
  assert.deepEqual(speaking, []);
  playout.write(ramp(20));
  clock.runUntil(150);
  playout.write(ramp(20)); // a breath, not a pause
  clock.runUntil(1000);
  assert.deepEqual(speaking, ["60: true", "400: false"]); // 240 ms after the chunk at 160 ms
});

test("tells how far it has got while it plays, and at the end", () => {
  const { playout, clock, progress } = start();
  playout.write(ramp(250));
  clock.runUntil(1000);
  assert.deepEqual(progress, ["80: 100", "180: 200", "260: 250"]);
});

test("clearing is silence at once, and counting from zero", () => {
  const { playout, clock, sent, speaking, progress } = start();
  playout.write(ramp(1000));
  clock.runUntil(25);
  playout.clear();
  assert.equal(playout.queuedSamples, 0);
  assert.equal(playout.playedSamples, 0);
  assert.deepEqual(speaking, ["0: true", "25: false"]);
  clock.runUntil(45);
  assert.equal(sent.at(-1), "40: -");
  playout.write(ramp(20));
  clock.runUntil(65);
  assert.equal(sent.at(-1), "60: 1…20");
  assert.equal(progress.at(-1), "60: 20");
  assert.equal(speaking.at(-1), "60: true");
});

test("a held tail does not outlive clearing", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(5));
  clock.runUntil(5);
  playout.clear();
  playout.write(ramp(5, 100));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: -", "20: -", "40: 100…104+15"]);
});

test("a pause is silence that keeps the rest, and clearing ends it", () => {
  const { playout, clock, sent, speaking } = start();
  playout.write(ramp(60));
  clock.runUntil(25);
  playout.pause(true);
  clock.runUntil(505);
  assert.deepEqual([sent.at(1), sent.at(2), sent.at(-1)], ["20: 21…40", "40: -", "500: -"]);
  assert.deepEqual(speaking, ["0: true", "25: false"]);
  playout.pause(false);
  clock.runUntil(525);
  assert.equal(sent.at(-1), "520: 41…60");
  playout.pause(true);
  playout.clear();
  playout.write(ramp(20));
  clock.runUntil(545);
  assert.equal(sent.at(-1), "540: 1…20");
});

test("what was sent too early is taken back, to the sample, as far as it is remembered", () => {
  const { playout, clock, sent } = start({ rewindMs: 60 });
  playout.write(ramp(110));
  clock.runUntil(85);
  playout.rewind(50);
  assert.deepEqual([playout.playedSamples, playout.queuedSamples], [50, 60]);
  playout.rewind(45);
  assert.equal(playout.playedSamples, 45);
  playout.rewind(0);
  assert.equal(playout.playedSamples, 40, "what came before is forgotten");
  clock.runUntil(105);
  assert.equal(sent.at(-1), "100: 41…60");
  clock.runUntil(500);
  assert.equal(playout.playedSamples, 110);
  playout.rewind(105);
  assert.equal(playout.queuedSamples, 5, "of the silence after the last nothing comes back");
  playout.clear();
  playout.rewind(0);
  assert.equal(playout.queuedSamples, 0);
});

test("stopped, it says that the bot is not heard and ticks no more", () => {
  const { playout, clock, sent, speaking } = start();
  playout.write(ramp(100));
  clock.runUntil(5);
  playout.stop();
  playout.stop();
  clock.runUntil(500);
  assert.deepEqual(sent, ["0: 1…20"]);
  assert.deepEqual(speaking, ["0: true", "5: false"]);
  assert.equal(clock.pending, 0);
});

test("takes what fits under the cap", () => {
  const { playout } = start({ maxQueuedMs: 50 });
  assert.equal(playout.write(ramp(40)), 40);
  assert.equal(playout.write(ramp(40)), 10);
  assert.equal(playout.queuedSamples, 50);
});

test("a lead is sent ahead when speech begins, and kept", () => {
  const { playout, clock, sent } = start({ leadMs: 40 });
  playout.write(ramp(100));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: 1…20", "0: 21…40", "0: 41…60", "20: 61…80", "40: 81…100"]);
  clock.runUntil(990);
  playout.write(ramp(100));
  clock.runUntil(1005);
  assert.deepEqual(sent.slice(-3), ["1000: 1…20", "1000: 21…40", "1000: 41…60"]);
});

test("what sending throws is reported and does not stop the rest", () => {
  const errors: unknown[] = [];
  let calls = 0;
  const { clock } = start({
    send() {
      calls += 1;
      throw new Error("line down");
    },
    onError: (error) => void errors.push((error as Error).message),
  });
  clock.runUntil(25);
  assert.equal(calls, 2);
  assert.deepEqual(errors, ["line down", "line down"]);
});

/** At 1000 Hz a sample is a millisecond; chunks of 20 ms. Each event is noted with its time. */
function start(options: Partial<PlayoutOptions> = {}) {
  const clock = createManualClock();
  const [sent, speaking, progress]: [string[], string[], string[]] = [[], [], []];
  const playout = createPlayout({
    sampleRateHz: 1000,
    chunkMs: 20,
    maxQueuedMs: 10_000,
    send: (chunk) => void sent.push(`${clock.nowMs()}: ${chunk ? shown(chunk) : "-"}`),
    speaking: (isSpeaking) => void speaking.push(`${clock.nowMs()}: ${isSpeaking}`),
    progress: () => void progress.push(`${clock.nowMs()}: ${playout.playedSamples}`),
    clock,
    ...options,
  });
  playout.start();
  return { playout, clock, sent, speaking, progress };
}

function ramp(length: number, first = 1): Int16Array {
  return Int16Array.from({ length }, (_, at) => first + at);
}

/** First and last sample, and how many zeros follow. */
function shown(chunk: Int16Array): string {
  const last = chunk.findLastIndex((sample) => sample !== 0);
  const padding = chunk.length - 1 - last;
  return `${chunk[0]}…${chunk[last]}${padding > 0 ? `+${padding}` : ""}`;
}
