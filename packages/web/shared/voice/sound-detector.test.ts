import assert from "node:assert/strict";
import { test } from "node:test";
import { SoundDetector } from "./watch-voices.ts";

/** Feeds one value each 20 ms and lists the changes. */
function changes(values: number[]): string[] {
  const detector = new SoundDetector({ threshold: 0.01, hangoverMs: 100 });
  return values.flatMap((value, index) => {
    const change = detector.feed(value, index * 20);
    return change ? [`${change.change} ${change.atMs}`] : [];
  });
}

const run = (count: number, value: number) => Array.from({ length: count }, () => value);

test("a stop is dated back to the last sound", () => {
  assert.deepEqual(changes([...run(5, 0), ...run(10, 0.2), ...run(20, 0)]), ["started 100", "stopped 280"]);
});

test("a short break is no stop", () => {
  const values = [...run(5, 0.2), ...run(3, 0), ...run(5, 0.2), ...run(10, 0)];
  assert.deepEqual(changes(values), ["started 0", "stopped 240"]);
});

test("steady noise is learnt, a voice above it is still found", () => {
  const noise = run(2000, 0.012);
  const found = changes([...noise, ...run(10, 0.2), ...run(10, 0.012)]);
  assert.equal(found.at(-2), "started 40000");
  assert.equal(found.at(-1), "stopped 40180");
});
