import assert from "node:assert/strict";
import { test } from "node:test";
import { AliveRecord, ExitRecord, InstanceStatus, noFilterFigures, TOLD_MAX } from "./instance-api.ts";

const sessionId = "b1ff0359-7aeb-4902-9f86-cb3e02d9f34f";
const ODD = [Infinity, -Infinity, NaN, -1, 9e15, 1.5, 1e-9, "12", null, undefined, {}, true];

const exit = {
  ...{ sessionId, reason: "idle", elapsedMs: 12.5, endedAtMs: 1_763_500_000_000, stopAskedMs: 3 },
  marks: { botEntered: 2.5 },
  filter: { asked: "tel", state: "ran", framesIn: 9, framesFiltered: 8, figures: noFilterFigures },
};
const alive = { sessionId, elapsedMs: 12.5, atMs: 1_763_500_000_000, filter: exit.filter };
const status = {
  ...{ instanceId: "i", epoch: 3, ready: false, cpuMs: 1.5, memoryBytes: 1_000 },
  session: { sessionId, state: "ended", elapsedMs: 12.5, marks: exit.marks, exit },
};

test("what makes sense is taken as it is told", () => {
  assert.deepEqual(ExitRecord.parse(exit), exit);
  assert.deepEqual(AliveRecord.parse(alive), alive);
  assert.deepEqual(InstanceStatus.parse(status), status);
});

for (const odd of ODD)
  test(`a figure that is ${JSON.stringify(odd) ?? odd} costs no record`, () => {
    for (const parse of [(value: unknown) => value, throughJson]) {
      const told = ExitRecord.parse(parse(bend(exit, odd)));
      requireSound(told);
      requireSound(AliveRecord.parse(parse(bend(alive, odd))));
      requireSound(InstanceStatus.parse(parse(bend(status, odd))));
      for (const whole of [told.endedAtMs, told.filter?.framesIn, told.filter?.framesFiltered])
        assert.ok(Number.isInteger(whole ?? 0), String(whole));
      assert.ok(Number.isInteger(InstanceStatus.parse(parse(bend(status, odd))).memoryBytes));
    }
  });

test("marks and filters that are none are left out", () => {
  const told = ExitRecord.parse({ ...exit, marks: null, filter: "tel" });
  assert.deepEqual([told.marks, told.filter], [{}, undefined]);
});

for (const [reason, expected] of [
  ["client-left", "client-left"],
  ["a\0b\u001b[31m\r\n\u202ec", "a b [31m c"],
  ["x".repeat(1_000_000), "x".repeat(100)],
  [`${"x".repeat(99)}😀`, `${"x".repeat(99)}\ufffd`],
  ["\0", "unknown"],
  [7, "unknown"],
  [undefined, "unknown"],
] as const)
  test(`the reason ${JSON.stringify(String(reason).slice(0, 20))} is a word or two`, () =>
    assert.equal(ExitRecord.parse({ ...exit, reason }).reason, expected));

/** Every number in it is odd. */
function bend(value: unknown, odd: unknown): unknown {
  if (typeof value === "number") return odd;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, bend(each, odd)]));
}

function requireSound(value: unknown): void {
  if (typeof value === "number") assert.ok(value >= 0 && value <= TOLD_MAX, String(value));
  if (typeof value === "object" && value !== null) Object.values(value).forEach(requireSound);
}

function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
