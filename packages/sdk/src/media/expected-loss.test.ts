import assert from "node:assert/strict";
import { test } from "node:test";
import { createExpectedLoss } from "./expected-loss.ts";

test("expects at once what is reported, forgets it slowly, and stays within bounds", () => {
  const loss = createExpectedLoss();
  assert.equal(loss.percent, 10);
  assert.equal(loss.observe(0), false);
  assert.equal(loss.observe(64), true);
  assert.equal(loss.percent, 25);
  const seen = [0, 0, 0, 0, 0].map(() => {
    loss.observe(0);
    return loss.percent;
  });
  assert.deepEqual(seen, [19, 14, 11, 10, 10]);
  loss.observe(255);
  assert.equal(loss.percent, 40);
});
