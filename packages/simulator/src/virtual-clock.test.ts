import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualClock } from "./clock.ts";
import { createSeededRandom } from "./seeded-random.ts";

test("timers run in order, at their time, also those set meanwhile", () => {
  const clock = createVirtualClock();
  const ran: string[] = [];
  clock.setTimer(() => ran.push(`b ${clock.nowMs()}`), 20);
  clock.setTimer(() => {
    ran.push(`a ${clock.nowMs()}`);
    clock.setTimer(() => ran.push(`c ${clock.nowMs()}`), 10);
  }, 10);
  const cancel = clock.setTimer(() => ran.push("never"), 15);
  cancel();
  clock.runFor(19);
  assert.deepEqual(ran, ["a 10"]);
  clock.runFor(1);
  assert.deepEqual(ran, ["a 10", "b 20", "c 20"]);
  assert.equal(clock.pendingTimers, 0);
  assert.equal(clock.epochMs(), 1_700_000_000_020);
});

test("random numbers repeat with their seed and fill their range", () => {
  const numbers = (seed: number): number[] => {
    const random = createSeededRandom(seed);
    return Array.from({ length: 1000 }, () => random());
  };
  assert.deepEqual(numbers(1), numbers(1));
  assert.notDeepEqual(numbers(1), numbers(2));
  assert.ok(numbers(1).every((value) => value >= 0 && value < 1));
  const mean = numbers(1).reduce((sum, value) => sum + value, 0) / 1000;
  assert.ok(mean > 0.45 && mean < 0.55);
});
