import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createSampleHistory } from "./sample-history.ts";

test("gives what is asked for and still there", () => {
  const history = createSampleHistory();
  const samples = Int16Array.of(0, 1, 2);
  history.push(samples);
  samples.fill(9);
  history.push(Int16Array.of(3, 4));
  history.push(Int16Array.of(5, 6, 7));
  assert.deepEqual(history.slice(1, 6), Int16Array.of(1, 2, 3, 4, 5));
  history.dropBefore(4);
  assert.equal(history.start, 3);
  assert.deepEqual(history.slice(-5, 99), Int16Array.of(3, 4, 5, 6, 7));
  history.dropBefore(99);
  assert.deepEqual([history.start, history.end], [8, 8]);
  assert.deepEqual(history.slice(0, 99), new Int16Array(0));
});

test("any slice of any stream", () => {
  const lengths = fc.array(fc.nat(20), { maxLength: 10 });
  fc.assert(
    fc.property(lengths, fc.nat(100), fc.nat(220), fc.nat(220), (chunks, dropped, from, to) => {
      const history = createSampleHistory();
      let next = 0;
      for (const length of chunks) history.push(Int16Array.from({ length }, () => next++));
      history.dropBefore(dropped);
      assert.ok(history.start <= dropped && history.end === next);
      const expected = Array.from({ length: next }, (_, i) => i).slice(
        Math.max(from, history.start),
        Math.max(to, 0),
      );
      assert.deepEqual([...history.slice(from, to)], expected);
    }),
  );
});
