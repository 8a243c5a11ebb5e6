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

test("a piece that comes too late is heard late, and the order holds", () => {
  check([1, 3, 4, 5, 6, 2, 7, 8], [[1], [], [], [], [3, 4, 5, 6], [2], [7], [8]]);
});

test("a number that comes twice is heard twice: a stream repeats nothing, so the counter stands still", () => {
  check([1, 2, 3, 2, 4, 4, 5], [[1], [2], [3], [2], [4], [4], [5]]);
  check([1, 3, 3, 2, 4], [[1], [], [3, 3], [2], [4]]);
});

test("after a jump ahead the order holds", () => {
  check([1, 1000, 1002, 1001, 1003, 1004], [[1], [1000], [], [1001, 1002], [1003], [1004]]);
});

test("a counter that begins anew is followed, and what waited is heard before", () => {
  check([500, 501, 1, 2, 3], [[500], [501], [1], [2], [3]]);
  check([500, 502, 1, 2, 4, 3, 5], [[500], [], [502, 1], [2], [], [3, 4], [5]]);
});

const COUNTERS: Record<string, (at: number) => number> = {
  "stands still": () => 7,
  falls: (at) => 1_000 - at,
  "begins again every ten": (at) => at % 10,
  "begins again after 40": (at) => (at < 50 ? 40 + at : at - 50),
  "wraps at 16 bits": (at) => (65_500 + at) % 65_536,
  "jumps far ahead": (at) => at * 1_000,
  "counts every piece twice": (at) => Math.floor(at / 2),
  "is a clock": (at) => at * 20 + 5,
  "is no counter": (at) => (at * 7_919) % 101,
};
for (const [what, counter] of Object.entries(COUNTERS))
  test(`a counter that ${what} costs nothing of the call`, () => {
    const inOrder = createInOrder<number>();
    const passed = Array.from({ length: 100 }, (_, at) => inOrder.push(counter(at), at)).flat();
    assert.deepEqual(
      passed.toSorted((left, right) => left - right),
      Array.from({ length: 100 }, (_, at) => at),
    );
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
      // Three more pieces flush any that still wait.
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

test("whatever comes, every piece is heard once, at most three places late", () => {
  const odd = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 40 }) },
    fc.double(),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 300 }), (numbers) => {
      const inOrder = createInOrder<number>();
      const passed = new Set<number>();
      let count = 0;
      for (const [at, number] of numbers.entries()) {
        for (const piece of inOrder.push(number, at)) {
          passed.add(piece);
          count += 1;
        }
        for (let earlier = 0; earlier <= at - 3; earlier += 1) assert.ok(passed.has(earlier));
      }
      assert.equal(count, passed.size, "none twice");
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
