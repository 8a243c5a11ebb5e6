import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "../testing/manual-clock.ts";
import { createPacer } from "./pacer.ts";
import { createTimerWheel } from "./timer-wheel.ts";

test("timers fire at the next step, together and in their order", () => {
  const clock = createManualClock();
  const wheel = createTimerWheel({ stepMs: 10, ...clock });
  const fired: [string, number][] = [];
  const set = (name: string, delayMs: number) =>
    wheel.setTimer(() => void fired.push([name, clock.nowMs()]), delayMs);
  set("late", 32);
  set("second", 12);
  set("first", 3);
  set("also second", 20);
  assert.equal(clock.pending, 1);
  clock.runUntil(100);
  assert.deepEqual(fired, [
    ["first", 10],
    ["second", 20],
    ["also second", 20],
    ["late", 40],
  ]);
  assert.equal(clock.pending, 0);
});

test("a cancelled timer does not fire", () => {
  const clock = createManualClock();
  const wheel = createTimerWheel({ stepMs: 10, ...clock });
  let fired = 0;
  const count = (): void => void (fired += 1);
  const cancel = wheel.setTimer(count, 5);
  wheel.setTimer(count, 5);
  cancel();
  clock.runUntil(50);
  assert.equal(fired, 1);
});

test("a pace that is a multiple of the step stays even, wherever it begins and however late the clock", () => {
  const clock = createManualClock({ latenessMs: (dueMs) => (dueMs % 3) / 2 });
  const wheel = createTimerWheel({ stepMs: 5, ...clock });
  clock.runUntil(3);
  const ticksMs: number[] = [];
  const pacer = createPacer({
    intervalMs: 20,
    tick: () => void ticksMs.push(clock.nowMs()),
    nowMs: clock.nowMs,
    setTimer: wheel.setTimer,
  });
  pacer.start();
  clock.runUntil(1_003);
  assert.equal(ticksMs.length, 50);
  ticksMs.forEach((atMs, at) => assert.ok(Math.abs(atMs - (5 + 20 * at)) <= 1, `${atMs} ms`));
});
