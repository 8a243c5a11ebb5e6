import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualClock } from "../clock.ts";
import { startUplink } from "./telephone.ts";

function recorded(latenessMs?: (dueMs: number) => number) {
  const clock = createVirtualClock(latenessMs ? { latenessMs } : {});
  const chunks: [fromMs: number, atMs: number][] = [];
  const lags: number[] = [];
  const uplink = startUplink({
    clock,
    chunkMs: 20,
    onChunk: (fromMs) => chunks.push([fromMs, clock.nowMs()]),
    onLag: (lagMs) => lags.push(lagMs),
  });
  return { clock, chunks, lags, uplink };
}

test("a chunk goes out when it has been spoken", () => {
  const { clock, chunks } = recorded();
  clock.runFor(70);
  assert.deepEqual(chunks, [
    [0, 20],
    [20, 40],
    [40, 60],
  ]);
});

test("late timers make no drift", () => {
  const { clock, chunks, lags } = recorded(() => 7);
  clock.runFor(10_000);
  assert.equal(chunks.length, 499);
  assert.deepEqual(chunks.at(-1), [9960, 9987]);
  assert.equal(Math.max(...lags), 7);
});

test("what was missed is caught up, but not what a sleeping machine missed", () => {
  const short = recorded((dueMs) => (dueMs === 40 ? 100 : 0));
  short.clock.runFor(165);
  assert.deepEqual(
    short.chunks.map(([fromMs]) => fromMs),
    [0, 20, 40, 60, 80, 100, 120, 140],
  );
  const long = recorded((dueMs) => (dueMs === 40 ? 5000 : 0));
  long.clock.runFor(5085);
  assert.deepEqual(long.chunks, [
    [0, 20],
    [5020, 5040],
    [5040, 5060],
    [5060, 5080],
  ]);
});

test("stop holds, also from inside a chunk", () => {
  const clock = createVirtualClock({ latenessMs: (dueMs) => (dueMs === 20 ? 90 : 0) });
  let chunks = 0;
  const uplink = startUplink({
    clock,
    chunkMs: 20,
    onChunk() {
      chunks += 1;
      if (chunks === 2) uplink.stop();
    },
  });
  clock.runFor(1000);
  assert.equal(chunks, 2);
  assert.equal(clock.pendingTimers, 0);
});
