import assert from "node:assert/strict";
import { test } from "node:test";
import { toBars } from "./microphone-voice.ts";

test("bars follow the loudness and cover everything", () => {
  const samples = new Int16Array(1000);
  samples.fill(8000, 500, 750);
  const bars = toBars(samples, 4);
  assert.deepEqual(
    bars.map((bar) => bar > 0.3),
    [false, false, true, false],
  );
  assert.deepEqual(toBars(new Int16Array(0), 3), [0, 0, 0]);
  assert.equal(toBars(new Int16Array(2), 10).length, 10, "a very short call has bars too");
});
