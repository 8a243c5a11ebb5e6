import assert from "node:assert/strict";
import { test } from "node:test";
import { createFilterTally } from "./filter-tally.ts";

test("figures that add up to no number are nothing", () => {
  const tally = createFilterTally();
  const figures = { framesIn: 2, framesFiltered: 2, levelRemovedDb: 1e308, cpuMs: 1e308 };
  const engine = {
    figures,
    process: (it: Int16Array) => it,
    flush: () => new Int16Array(0),
    [Symbol.dispose]() {},
  };
  for (const sampleRateHz of [16_000, 0]) tally.watch(engine, sampleRateHz).process(new Int16Array(160));
  const { figures: sums, ...frames } = tally.sums();
  assert.deepEqual(frames, { framesIn: 4, framesFiltered: 4 });
  assert.deepEqual([sums.seconds, sums.levelRemovedDb, sums.cpuMs], [0, 0, 0]);
});
