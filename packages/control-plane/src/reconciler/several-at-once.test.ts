import assert from "node:assert/strict";
import { test } from "node:test";
import { severalAtOnce } from "./several-at-once.ts";

test("each is done once, no more than so many at a time", async () => {
  let [now, most] = [0, 0];
  const done: number[] = [];
  await severalAtOnce([1, 2, 3, 4, 5, 6, 7], {
    atOnce: 3,
    async each(item) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      done.push(item);
      now--;
    },
  });
  assert.deepEqual(new Set(done), new Set([1, 2, 3, 4, 5, 6, 7]));
  assert.equal(done.length, 7);
  assert.equal(most, 3);
});

test("one that fails ends it, after those that are under way", async () => {
  const ended: number[] = [];
  const slow = Promise.withResolvers<void>();
  const all = severalAtOnce([1, 2, 3, 4], {
    atOnce: 2,
    async each(item) {
      if (item === 1) {
        setImmediate(slow.resolve);
        throw new Error("no");
      }
      await slow.promise;
      ended.push(item);
    },
  });
  await assert.rejects(all, /^Error: no$/);
  assert.deepEqual(ended, [2]);
});
