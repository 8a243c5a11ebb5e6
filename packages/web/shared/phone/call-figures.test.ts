import type { CallEvent } from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyFigures, leadMs, nextFigures } from "./call-figures.ts";

const RATE_HZ = 8000;
const fold = (...events: CallEvent[]) =>
  events.reduce((figures, event) => nextFigures(figures, event, RATE_HZ), emptyFigures);
const queued = (atMs: number, playsAtMs: number, ms = 100): CallEvent => ({
  type: "audio-queued",
  atMs,
  playsAtMs,
  samples: new Int16Array((RATE_HZ / 1000) * ms),
});

test("the first sound counts, not a later one", () => {
  const figures = fold(
    { type: "call-connected", atMs: 40 },
    { type: "bot-speech-start", atMs: 300 },
    { type: "bot-speech-end", atMs: 900 },
    { type: "bot-speech-start", atMs: 2000 },
  );
  assert.deepEqual([figures.connectMs, figures.firstAudioMs], [40, 300]);
});

test("how far ahead the bot is, and when it was late", () => {
  const smooth = fold(queued(0, 20), queued(50, 120), queued(100, 220));
  assert.deepEqual([smooth.largestLeadMs, smooth.lateChunks], [220, 0]);
  assert.equal(leadMs(smooth, 120), 200);
  assert.equal(leadMs(smooth, 900), 0);
  const late = fold(queued(0, 20), queued(200, 220), queued(2000, 2020));
  assert.deepEqual([late.lateChunks, late.largestGapMs], [1, 100], "a long pause is no stutter");
});

test("a clear empties the queue", () => {
  const figures = fold(queued(0, 20, 1000), { type: "audio-cleared", atMs: 300, droppedMs: 720 });
  assert.equal(leadMs(figures, 300), 0);
  assert.equal(figures.clears, 1);
});

test("marks, keys and bytes are counted", () => {
  const figures = fold(
    { type: "mark-received", atMs: 1, name: "a" },
    { type: "mark-received", atMs: 2, name: "b" },
    { type: "mark-reached", atMs: 3, name: "a" },
    { type: "digit-pressed", atMs: 4, digit: "4" },
    { type: "digit-pressed", atMs: 5, digit: "#" },
    { type: "message-sent", atMs: 6, text: "12345" },
    { type: "message-received", atMs: 7, text: "123" },
  );
  assert.deepEqual([figures.marksReceived, figures.marksReached, figures.keys], [2, 1, "4#"]);
  assert.deepEqual([figures.bytesOut, figures.bytesIn], [5, 3]);
});

test("the same violation is listed once", () => {
  const violation = { code: "bad-size", detail: "320 bytes" } as const;
  const found: CallEvent = { type: "violation-found", atMs: 1, violation };
  const other = { ...found, violation: { ...violation, detail: "640 bytes" } };
  assert.deepEqual(
    fold(found, other, found).violations.map(({ detail, count }) => `${count} × ${detail}`),
    ["2 × 320 bytes", "1 × 640 bytes"],
  );
});
