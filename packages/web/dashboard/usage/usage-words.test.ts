import assert from "node:assert/strict";
import { test } from "node:test";
import { lastMonths, monthOf, monthTitle, niceTop, toMinutes, toPart } from "./usage-words.ts";

test("months are UTC months, across a new year", () => {
  const newYear = Date.parse("2027-01-01T00:00:00Z");
  assert.equal(monthOf(newYear - 1), "2026-12");
  assert.deepEqual(lastMonths(newYear, 3), ["2027-01", "2026-12", "2026-11"]);
  assert.deepEqual(lastMonths(Date.parse("2026-03-31T12:00:00Z"), 2), ["2026-03", "2026-02"]);
  assert.equal(monthTitle("2026-02"), "February 2026");
});

test("a total is in begun minutes, its parts are exact", () => {
  assert.deepEqual([0, 1, 60, 61, 600_061].map(toMinutes), ["0", "1", "1", "2", "10,002"]);
  assert.deepEqual([0, 2, 3, 90, 360_006].map(toPart), ["0.0", "< 0.1", "0.1", "1.5", "6,000.1"]);
});

test("an axis ends with a round number whose half is whole", () => {
  assert.deepEqual([0, 0.4, 2, 3, 7, 9, 41, 990, 1_180].map(niceTop), [2, 2, 2, 4, 8, 10, 50, 1_000, 1_200]);
});
