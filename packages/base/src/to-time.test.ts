import assert from "node:assert/strict";
import { test } from "node:test";
import { toTime } from "./to-time.ts";

for (const [ms, text] of [
  [1_763_500_000_000, "2025-11-18T21:06:40.000Z"],
  [1_763_500_000_000.5, "2025-11-18T21:06:40.000Z"],
  [-1, "1970-01-01T00:00:00.000Z"],
  [9e15, "9999-12-31T23:59:59.999Z"],
  [Infinity, "9999-12-31T23:59:59.999Z"],
  [-Infinity, "1970-01-01T00:00:00.000Z"],
  [NaN, "1970-01-01T00:00:00.000Z"],
] as const)
  test(`${ms} is a time`, () => assert.equal(toTime(ms), text));
