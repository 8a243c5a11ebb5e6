import assert from "node:assert/strict";
import { test } from "node:test";
import { createSpeechTracker } from "./speech-tracker.ts";

/** Checks the events of a line of windows: `x` speech and `.` silence, each 10 ms. */
function check(windows: string, expected: string): void {
  const tracker = createSpeechTracker({ windowMs: 10, startMs: 30, stopMs: 40, resumeMs: 20 });
  const told = [...windows].map((window) => {
    const change = tracker.window(window === "x");
    return change === undefined ? "-" : change[0];
  });
  assert.equal(told.join(""), expected);
}

test("a click starts nothing, speech does", () => check("x..xx..xxxx", "---------s-"));
test("gaps inside words are no pauses", () => check("xxx...x...x....", "--s-----------p"));
test("a click does not end a pause, speech does", () => check("xxx....x..xx", "--s---p----r"));

test("it knows how much was said and for how long nothing was", () => {
  const tracker = createSpeechTracker({ windowMs: 10, startMs: 30, stopMs: 40, resumeMs: 20 });
  for (const window of "xxxx.xx.....") tracker.window(window === "x");
  assert.deepEqual([tracker.speechMs, tracker.silenceMs, tracker.state], [60, 50, "paused"]);
  tracker.end();
  for (const window of "xxx") tracker.window(window === "x");
  assert.deepEqual([tracker.speechMs, tracker.state], [30, "speaking"]);
});
