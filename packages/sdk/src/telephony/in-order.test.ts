import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import { createInOrder } from "./in-order.ts";

test("pieces that come in order pass at once", () => {
  check([5, 6, 7, 8], [[5], [6], [7], [8]]);
});

test("pieces without a number pass at once and disturb nothing", () => {
  const inOrder = createInOrder<string>();
  assert.deepEqual(inOrder.push(1, "a"), ["a"]);
  assert.deepEqual(inOrder.push(undefined, "x"), ["x"]);
  assert.deepEqual(inOrder.push(2, "b"), ["b"]);
});

test("a piece that overtook waits for the one before", () => {
  check([1, 3, 2, 4], [[1], [], [2, 3], [4]]);
  check([1, 4, 3, 2, 5], [[1], [], [], [2, 3, 4], [5]]);
});

test("a missing piece holds up no more than three others", () => {
  check([1, 3, 4, 5, 6, 7], [[1], [], [], [], [3, 4, 5, 6], [7]]);
});

test("a piece that comes too late, or twice, is left out", () => {
  check([1, 2, 3, 2, 4, 4, 5], [[1], [2], [3], [], [4], [], [5]]);
  check([1, 3, 3, 2], [[1], [], [], [2, 3]]);
});

test("after a jump ahead the order holds", () => {
  check([1, 1000, 1002, 1001, 1003, 1004], [[1], [], [], [], [1000, 1001, 1002, 1003], [1004]]);
});

test("a counter that begins anew is followed", () => {
  check([500, 501, 1, 2, 3], [[500], [501], [1], [2], [3]]);
});

test("numbers no counter has do no harm", () => {
  const inOrder = createInOrder<number>();
  for (const odd of [1e308, -5, 0.5, Number.MAX_SAFE_INTEGER, 2 ** 60, -0]) inOrder.push(odd, odd);
  const passed = Array.from({ length: 50 }, (_, at) => inOrder.push(at, at)).flat();
  assert.deepEqual(
    passed.slice(-40),
    Array.from({ length: 40 }, (_, at) => at + 10),
  );
});

test("pieces shuffled by up to three places come out whole and in order", () => {
  const shuffled = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 10, maxLength: 200 });
  fc.assert(
    fc.property(shuffled, fc.integer({ min: 0, max: 100_000 }), (delays, first) => {
      const numbers = delays
        .map((delay, at) => ({ number: first + at, at: at + (at === 0 ? 0 : delay) }))
        .sort((left, right) => left.at - right.at || left.number - right.number)
        .map(({ number }) => number);
      const inOrder = createInOrder<number>();
      // Three more flush what still waits for a piece.
      const next = first + delays.length;
      const passed = [...numbers, next, next + 1, next + 2].flatMap((number) => inOrder.push(number, number));
      assert.deepEqual(
        passed,
        Array.from({ length: passed.length }, (_, at) => first + at),
      );
      assert.equal(passed.length, delays.length + 3);
    }),
  );
});

test("whatever comes: nothing twice, at most three held, and what passes ascends between restarts", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 300 }), (numbers) => {
      const inOrder = createInOrder<number>();
      let passed: number[] = [];
      const distinct = new Set<number>();
      for (const number of numbers) {
        distinct.add(number);
        passed = [...passed, ...inOrder.push(number, number)];
      }
      assert.deepEqual(
        passed,
        [...new Set(passed)].sort((left, right) => left - right),
      );
      assert.ok(passed.every((number) => distinct.has(number)));
    }),
  );
});

function check(numbers: number[], expected: number[][]): void {
  const inOrder = createInOrder<number>();
  assert.deepEqual(
    numbers.map((number) => inOrder.push(number, number)),
    expected,
  );
}
