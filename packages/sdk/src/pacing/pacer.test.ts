import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { createPacer } from "./pacer.ts";
import type { PacerOptions } from "./pacer.ts";

test("ticks at start and then every interval, without drift from late timers", () => {
  const clock = createManualClock({ latenessMs: () => 3 });
  const { pacer, ticksMs } = recorded(clock);
  pacer.start();
  clock.runUntil(200);
  assert.deepEqual(ticksMs, [3, 23, 43, 63, 83, 103, 123, 143, 163, 183]);
});

test("catches up after a short hold-up", () => {
  const clock = createManualClock({ latenessMs: (dueMs) => (dueMs === 40 ? 150 : 0) });
  const { pacer, ticksMs } = recorded(clock);
  pacer.start();
  clock.runUntil(250);
  assert.deepEqual(ticksMs, [0, 20, 190, 190, 190, 190, 190, 190, 190, 190, 200, 220, 240]);
});

test("after a long hold-up the schedule starts anew", () => {
  const clock = createManualClock({ latenessMs: (dueMs) => (dueMs === 40 ? 205 : 0) });
  const { pacer, ticksMs } = recorded(clock);
  pacer.start();
  clock.runUntil(300);
  assert.deepEqual(ticksMs, [0, 20, 245, 265, 285]);
});

test("a throwing tick is reported and does not stop it", () => {
  const clock = createManualClock();
  const errors: unknown[] = [];
  let ticks = 0;
  const pacer = createPacer({
    intervalMs: 20,
    tick() {
      ticks++;
      throw new Error(`tick ${ticks}`);
    },
    onError: (error) => errors.push((error as Error).message),
    ...clock,
  });
  pacer.start();
  clock.runUntil(50);
  assert.deepEqual(errors, ["tick 1", "tick 2", "tick 3"]);
});

test("stop holds even from inside a tick, and start begins again", () => {
  const clock = createManualClock();
  const ticksMs: number[] = [];
  const pacer = createPacer({
    intervalMs: 20,
    tick() {
      ticksMs.push(clock.nowMs());
      if (ticksMs.length === 2) pacer.stop();
    },
    ...clock,
  });
  pacer.start();
  clock.runUntil(105);
  assert.deepEqual(ticksMs, [0, 20]);
  assert.equal(clock.pending, 0);
  pacer.start();
  pacer.start();
  clock.runUntil(150);
  assert.deepEqual(ticksMs, [0, 20, 105, 125, 145]);
});

test("a random phase delays the first tick", () => {
  const clock = createManualClock();
  const { pacer, ticksMs } = recorded(clock, { randomPhase: true, random: () => 0.25 });
  pacer.start();
  clock.runUntil(50);
  assert.deepEqual(ticksMs, [5, 25, 45]);
});

test("keeps the pace with real timers", async () => {
  const ticksMs: number[] = [];
  const pacer = createPacer({ intervalMs: 10, tick: () => void ticksMs.push(performance.now()) });
  pacer.start();
  await sleep(400);
  pacer.stop();
  const count = ticksMs.length;
  await sleep(30);
  assert.equal(ticksMs.length, count);
  assert.ok(count >= 2 && count <= 42, `${count} ticks`);
});

function recorded(clock: ManualClock, options: Partial<PacerOptions> = {}) {
  const ticksMs: number[] = [];
  const pacer = createPacer({
    intervalMs: 20,
    tick: () => void ticksMs.push(clock.nowMs()),
    ...clock,
    ...options,
  });
  return { pacer, ticksMs };
}
