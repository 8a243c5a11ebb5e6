import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { waitFor } from "./wait-for.ts";

const never = new Promise<never>(() => {});
const FAR_MS = 60_000;

test("gives what it waited for and leaves nothing behind", async () => {
  const { signal } = new AbortController();
  const before = timers();
  assert.equal(await waitFor(Promise.resolve(7), { what: "it", signal, timeoutMs: FAR_MS }), 7);
  const failing = Promise.reject(new Error("broken"));
  await assert.rejects(waitFor(failing, { what: "it", signal, timeoutMs: FAR_MS }), /broken/);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.ok(timers() <= before);
});

test("without a limit it only waits", async () => {
  assert.equal(await waitFor(Promise.resolve("x"), { what: "it" }), "x");
});

test("gives up when the time is over", async () => {
  const { signal } = new AbortController();
  let givenUp = 0;
  const wait = waitFor(never, {
    what: "the audio queue",
    timeoutMs: 1,
    signal,
    onGiveUp: () => void (givenUp += 1),
  });
  await assert.rejects(wait, { message: "Gave up waiting for the audio queue after 1 ms" });
  assert.equal(givenUp, 1);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("gives up when the signal aborts, with its reason", async () => {
  const reason = new Error("stopped");
  const cases: [unknown, (error: Error) => boolean][] = [
    [reason, (error) => error === reason],
    ["client-left", (error) => error.message === "client-left"],
    [undefined, (error) => error.name === "AbortError"],
  ];
  for (const [given, isExpected] of cases) {
    const controller = new AbortController();
    const before = timers();
    let givenUp = 0;
    const wait = waitFor(never, {
      what: "it",
      signal: controller.signal,
      timeoutMs: FAR_MS,
      onGiveUp: () => void (givenUp += 1),
    });
    controller.abort(given);
    await assert.rejects(wait, isExpected);
    assert.equal(givenUp, 1);
    assert.ok(timers() <= before);
  }
});

test("does not begin to wait when the signal has aborted", async () => {
  await assert.rejects(waitFor(never, { what: "it", signal: AbortSignal.abort("over") }), /over/);
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
