import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createTimeline } from "./timeline.ts";

test("sound stays where it was put, silence is between", () => {
  const timeline = createTimeline({ maxSamples: 100 });
  timeline.write(2, Int16Array.of(1, 2));
  timeline.write(6, Int16Array.of(3));
  assert.equal(timeline.length, 7);
  assert.deepEqual(timeline.read(0, 9), Int16Array.of(0, 0, 1, 2, 0, 0, 3, 0, 0));
  timeline.cut(3);
  assert.deepEqual(timeline.read(1, 7), Int16Array.of(0, 1, 0, 0, 0, 0));
  assert.equal(timeline.length, 3);
  assert.equal(timeline.read(5, 4).length, 0);
});

test("what comes after the end is not kept", () => {
  const timeline = createTimeline({ maxSamples: 3 });
  timeline.write(2, Int16Array.of(1, 2, 3));
  timeline.write(50_000_000, Int16Array.of(4));
  assert.equal(timeline.length, 3);
  assert.deepEqual(timeline.read(0, 4), Int16Array.of(0, 0, 1, 0));
});

test("behaves like a plain array, however long it grows", () => {
  const change = fc.record({
    at: fc.nat(30_000),
    samples: fc.int16Array({ minLength: 1, maxLength: 20 }),
    isCut: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const timeline = createTimeline({ maxSamples: 25_000 });
      const expected = new Int16Array(30_100);
      for (const { at, samples, isCut } of changes) {
        if (isCut) {
          timeline.cut(at);
          expected.fill(0, at);
        } else {
          timeline.write(at, samples);
          expected.set(samples.subarray(0, Math.max(0, 25_000 - at)), at);
        }
      }
      assert.deepEqual(timeline.read(0, expected.length), expected);
    }),
  );
});
