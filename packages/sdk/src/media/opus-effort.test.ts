import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpusEffort } from "./opus-effort.ts";

test("works less while the thread is busy, and as told again after ten calm seconds", () => {
  // Seconds of utilization, then the complexity at their end.
  check(5, [[10, 0.7, 5], [0.5, 0.9, 5], [0.5, 0.9, 1], [30, 0.5, 1], [9.5, 0.3, 1], [0.5, 0.3, 5]]); // prettier-ignore
});

test("a short peak changes nothing, nor does a short calm", () => {
  check(5, [[0.5, 0.95, 5], [0.5, 0.6, 5], [0.5, 0.95, 5], [0.5, 0.6, 5]]); // prettier-ignore
  check(5, [[1, 0.95, 1], [9, 0.2, 1], [0.5, 0.45, 1], [9, 0.2, 1], [1, 0.2, 5]]); // prettier-ignore
});

test("never works harder than told", () => {
  check(1, [[5, 0.95, 1], [20, 0.1, 1]]); // prettier-ignore
  check(0, [[5, 0.95, 0], [20, 0.1, 0]]); // prettier-ignore
});

test("tells each change once", () => {
  const effort = createOpusEffort(8);
  const changes = [0.9, 0.9, 0.9, ...Array.from({ length: 25 }, () => 0.1)].filter((busy) =>
    effort.observe(busy),
  );
  assert.deepEqual(changes, [0.9, 0.1]);
});

function check(
  configured: number,
  course: [seconds: number, utilization: number, complexity: number][],
): void {
  const effort = createOpusEffort(configured);
  for (const [index, [seconds, utilization, complexity]] of course.entries()) {
    for (let count = 0; count < seconds * 2; count += 1) effort.observe(utilization);
    assert.equal(effort.complexity, complexity, `after step ${index + 1}`);
  }
}
