import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import { crashOf } from "./plan-instance.ts";
import { check, exited, instance, running } from "./testing/check-plan.ts";

check({
  what: "one that was evicted before it is ready has not crashed",
  view: {
    instances: [instance({ id: "a", state: "starting" })],
    seen: [evicted("a")],
  },
  expect: ["mark-gone a (not its fault)"],
});
check({
  what: "nor one that was evicted while idle",
  view: { instances: [instance({ id: "a", state: "ready" })], seen: [evicted("a")] },
  expect: ["mark-gone a (not its fault)"],
});
check({
  what: "an instance for which there was no room is given up, which is not its fault",
  view: {
    instances: [instance({ id: "a", state: "starting" })],
    startingForMs: { a: 60_000 },
    seen: [{ ...running("a"), waitsFor: "There is no room for it." }],
  },
  expect: ["drain a (not its fault)"],
});

check({
  what: "one that hardly got the processor has not had its time",
  view: {
    instances: [instance({ id: "a", state: "starting" })],
    startingForMs: { a: 90_000 },
    seen: [{ ...running("a"), starvedMs: 31_000 }],
  },
  expect: [],
});
check({
  what: "one that had it for as long as others hangs, however long it waited before",
  view: {
    instances: [instance({ id: "a", state: "starting" })],
    startingForMs: { a: 90_000 },
    seen: [{ ...running("a"), starvedMs: 30_000 }],
  },
  expect: ["drain a (crash)"],
});
check({
  what: "nor is one for ever on its way that gets nothing, which is not its fault",
  view: {
    instances: [instance({ id: "a", state: "starting" })],
    startingForMs: { a: 600_000 },
    seen: [{ ...running("a"), starvedMs: 599_000 }],
  },
  expect: ["drain a (not its fault)"],
});

test("the driver says how an instance ended, if it knows", () => {
  assert.deepEqual(crashOf(evicted("a")), { exitCode: null, text: "It was evicted.", isForeign: true });
  assert.deepEqual(crashOf(exited("a", 1)), { exitCode: 1, text: "It exited with code 1." });
});

test("a bot whose heap is full has run out of memory, as one that the kernel ended", () => {
  const lastOutput = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
  const exit = { code: null, signal: "SIGABRT", outOfMemory: false, lastOutput };
  const seen: SeenInstance = { id: "a", state: "exited", address: undefined, exit };
  assert.deepEqual(crashOf(seen), { exitCode: 137, text: `It ran out of memory.\n${lastOutput}` });
  const aborted = { ...seen, exit: { ...exit, lastOutput: "" } };
  assert.equal(crashOf(aborted).text, "It was ended by SIGABRT.");
});

function evicted(id: string): SeenInstance {
  const exit = { code: null, signal: "SIGTERM", outOfMemory: false, lastOutput: "", isForeign: true };
  return { id, state: "exited", address: undefined, exit: { ...exit, how: "It was evicted." } };
}
