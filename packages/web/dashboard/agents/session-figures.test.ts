import type { Session } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { concurrencyOf, percentile, startsOf } from "./session-figures.ts";

const at = (second: number) => new Date(second * 1000).toISOString();
const session = (from: number, to: number | null, changes: Partial<Session> = {}) =>
  ({
    createdAt: at(from),
    endedAt: to === null ? null : at(to),
    botStartSeconds: null,
    coldStart: null,
    ...changes,
  }) as Session;

test("the curve rises with each start and falls with each end, up to now", () => {
  const curve = concurrencyOf([session(10, 30), session(20, null)], 40_000);
  assert.deepEqual(curve, { times: [10, 20, 30, 40], values: [1, 2, 1, 1] });
  assert.deepEqual(concurrencyOf([], 40_000), { times: [], values: [] });
});

test("a session shorter than a second is still seen", () => {
  assert.deepEqual(concurrencyOf([session(10.1, 10.4)], 12_000), { times: [10, 12], values: [1, 0] });
});

test("starts are in order, cold and warm apart, without those that never started", () => {
  const starts = startsOf([
    session(20, null, { botStartSeconds: 0.2, coldStart: false }),
    session(10, null, { botStartSeconds: 2, coldStart: true }),
    session(15, null),
  ]);
  assert.deepEqual(starts, { times: [10, 20], warm: [null, 0.2], cold: [2, null] });
});

test("percentiles are values that occurred", () => {
  assert.equal(percentile([3, 1, 2], 50), 2);
  assert.equal(percentile([3, 1, 2], 95), 3);
  assert.equal(percentile([], 50), undefined);
});
