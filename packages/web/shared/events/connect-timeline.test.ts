import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTimeline, nextTimeline } from "./connect-timeline.ts";
import type { ConnectionEvent } from "./connection-event.ts";

const play = (events: ConnectionEvent[]) => events.reduce(nextTimeline, emptyTimeline);

test("each step is measured, and the whole", () => {
  const timeline = play([
    { type: "session-requested", transport: "webrtc", microphone: true, atMs: 100 },
    { type: "step-reached", step: "start", atMs: 150 },
    { type: "step-reached", step: "connect", atMs: 160 },
    { type: "step-reached", step: "bot", atMs: 240 },
    { type: "bot-ready", version: "2.1.0", atMs: 250 },
    { type: "bot-ready", version: "2.1.0", atMs: 900 },
    { type: "bot-heard", atMs: 1000 },
    { type: "bot-heard", atMs: 2000 },
  ]);
  assert.deepEqual(timeline.steps, [
    { step: "microphone", durationMs: 50 },
    { step: "start", durationMs: 10 },
    { step: "connect", durationMs: 80 },
    { step: "bot", durationMs: 10 },
  ]);
  assert.equal(timeline.totalMs, 150);
  assert.equal(timeline.firstSoundMs, 900);
});

test("an attempt that ends early has no total", () => {
  const timeline = play([
    { type: "session-requested", transport: "webrtc", microphone: false, atMs: 0 },
    { type: "session-ended", by: "you", atMs: 30 },
  ]);
  assert.deepEqual(timeline.steps, [{ step: "start", durationMs: 30 }]);
  assert.equal(timeline.totalMs, undefined);
});
