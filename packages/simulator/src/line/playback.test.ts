import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createPlayback } from "./playback.ts";

const RATE_HZ = 8000;
const ms = (length: number, value = 1): Int16Array => new Int16Array(length * 8).fill(value);

function playback(delayMs = 0) {
  return createPlayback({ sampleRateHz: RATE_HZ, maxMs: 60_000, delayMs });
}

test("chunks play one after the other, from the moment the first comes", () => {
  const { play, heard } = playback();
  assert.deepEqual(play(ms(40, 1), 100), { gapMs: 0, leadMs: 40 });
  assert.deepEqual(play(ms(40, 2), 110), { gapMs: 0, leadMs: 70 });
  assert.deepEqual(play(ms(20, 3), 300), { gapMs: 120, leadMs: 20 });
  const at = (timeMs: number): number | undefined => heard.read(timeMs * 8, timeMs * 8 + 1)[0];
  assert.deepEqual([99, 100, 139, 140, 179, 180, 299, 300, 319, 320].map(at), [0, 1, 1, 2, 2, 0, 0, 3, 3, 0]);
});

test("a little unevenness is not heard", () => {
  const { play } = playback(20);
  assert.deepEqual(play(ms(40), 100), { gapMs: 0, leadMs: 60 });
  assert.deepEqual(play(ms(40), 155), { gapMs: 0, leadMs: 45 });
  assert.deepEqual(play(ms(40), 201), { gapMs: 21, leadMs: 60 });
});

test("a mark is reached when everything before it has been played", () => {
  const queue = playback();
  queue.mark("at once", 50);
  assert.deepEqual(queue.takeReached(50), ["at once"]);
  queue.play(ms(100), 60);
  queue.mark("first", 61);
  queue.play(ms(100), 70);
  queue.mark("second", 71);
  queue.mark("third", 72);
  assert.equal(queue.nextMarkMs, 160);
  assert.deepEqual(queue.takeReached(159), []);
  assert.deepEqual(queue.takeReached(160), ["first"]);
  assert.equal(queue.nextMarkMs, 260);
  assert.deepEqual(queue.takeReached(1000), ["second", "third"]);
  assert.equal(queue.nextMarkMs, undefined);
});

test("clear stops at once and gives back what waited", () => {
  const queue = playback();
  queue.play(ms(200, 5), 0);
  queue.mark("x", 1);
  assert.deepEqual(queue.clear(50), { droppedMs: 150, marks: ["x"] });
  assert.equal(queue.heard.length, 400);
  assert.deepEqual(queue.takeReached(1000), []);
  assert.deepEqual(queue.play(ms(10, 6), 60), { gapMs: 10, leadMs: 10 });
  assert.deepEqual(queue.clear(500), { droppedMs: 0, marks: [] });
});

test("only so many marks can wait", () => {
  const queue = playback();
  queue.play(ms(10), 0);
  for (let count = 0; count < 1000; count++) assert.ok(queue.mark("x", 0));
  assert.equal(queue.mark("one more", 0), false);
});

test("nothing heard is ever changed, and marks keep their order", () => {
  const step = fc.record({
    waitMs: fc.nat(100),
    lengthMs: fc.integer({ min: 1, max: 200 }),
    kind: fc.constantFrom("play", "mark", "clear"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = playback(20);
      let nowMs = 0;
      let past: Int16Array = new Int16Array(0);
      const names: number[] = [];
      const answered: number[] = [];
      for (const { waitMs, lengthMs, kind } of steps) {
        nowMs += waitMs;
        answered.push(...queue.takeReached(nowMs).map(Number));
        if (kind === "play") queue.play(ms(lengthMs, 1 + (lengthMs % 7)), nowMs);
        if (kind === "mark") {
          queue.mark(String(names.length), nowMs);
          names.push(names.length);
        }
        if (kind === "clear") answered.push(...queue.clear(nowMs).marks.map(Number));
        assert.deepEqual(queue.heard.read(0, past.length), past);
        past = queue.heard.read(0, nowMs * 8);
      }
      answered.push(...queue.takeReached(Infinity).map(Number));
      assert.deepEqual(answered, names);
    }),
  );
});
