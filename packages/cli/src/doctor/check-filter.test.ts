import { noFilterFigures, type SessionFilter } from "@vocalhost/protocol";
import type { CallSummary } from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./check-filter.ts";
import type { FilterCall } from "./filter-call.ts";

const RAN: SessionFilter = {
  ...{ ...noFilterFigures, model: "tel", state: "ran", framesIn: 1_600, framesFiltered: 1_600 },
  ...{ levelRemovedDb: 8.25, billed: true, warning: null },
};

test("the calls show that the filter works, that it does not, or nothing", () => {
  for (const [withFilter, without, states] of [
    [call(0), call(2, { wasBypassed: true }), ["ok", "ok"]],
    [call(1), call(3, { wasBypassed: true }), ["ok", "ok"]],
    [call(2), call(2, { wasBypassed: true }), ["failed", "ok"]],
    [call(0), call(0, { wasBypassed: true }), ["ok", "warning"]],
    [call(0), call(0), ["ok", "warning"]],
    [
      call(2, { filter: { ...RAN, state: "not-attached", warning: "Billed, but" } }),
      call(2),
      ["failed", "skipped"],
    ],
    [call(2, { filter: null }), call(2), ["failed", "skipped"]],
  ] as const)
    assert.deepEqual(
      judge({ agent: "parrot", withFilter: [withFilter], without }).map(({ state }) => state),
      states,
    );
  const [first, second] = judge({
    agent: "parrot",
    withFilter: [call(0, { talker: "during" })],
    without: call(1, { wasBypassed: true }),
  });
  assert.equal(
    first?.says,
    "0 false interruptions in 16 s with a talker 10 dB below the caller who begins during the caller; 8.3 dB removed",
  );
  assert.equal(
    second?.says,
    "1 false interruption in 16 s with a talker 10 dB below the caller who begins before the caller",
  );
});

test("one order of events in which the filter fails is enough, and is named", () => {
  const hops = judge({
    agent: "parrot",
    withFilter: [call(0), call(2, { talker: "during" }), call(1, { talker: "after" })],
    without: call(2, { wasBypassed: true }),
  });
  assert.deepEqual(
    hops.map(({ name, state }) => [name, state]),
    [
      ["talker before", "ok"],
      ["talker during", "failed"],
      ["talker after", "ok"],
      ["without filter", "ok"],
    ],
  );
});

function call(falseInterruptions: number, rest: Partial<FilterCall> = {}): FilterCall {
  const summary = { falseInterruptions, durationMs: 16_040 } as CallSummary;
  return { talker: "before", summary, filter: RAN, wasBypassed: false, ...rest };
}
