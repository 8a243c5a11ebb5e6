import assert from "node:assert/strict";
import { test } from "node:test";
import { logRanges, startTimeOf, toLogRange } from "./log-range.ts";

test("a range comes from the address; what is none means any time", () => {
  for (const { value } of logRanges) assert.equal(toLogRange(value), value);
  for (const value of [undefined, "", "2h", 7, null, ["1h"]]) assert.equal(toLogRange(value), "any");
});

test("a range begins at a whole second, any time never", () => {
  const nowMs = 1_790_000_000_999;
  assert.deepEqual(
    logRanges.map(({ value }) => startTimeOf(value, nowMs)),
    [undefined, 1_789_999_100, 1_789_996_400, 1_789_913_600, 1_789_395_200],
  );
});
