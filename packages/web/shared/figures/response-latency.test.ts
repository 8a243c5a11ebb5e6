import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEvent } from "../events/connection-event.ts";
import { emptyLatency, median, nextLatency } from "./response-latency.ts";

const play = (events: ConnectionEvent[]) => events.reduce(nextLatency, emptyLatency);
const got = (atMs: number, type: string): ConnectionEvent => ({
  type: "message-received",
  message: { type },
  atMs,
});

test("an answer is measured from the end of the turn, and from voice to voice", () => {
  const latency = play([
    got(0, "user-started-speaking"),
    { type: "user-quiet", atMs: 1000 },
    got(1500, "user-stopped-speaking"),
    got(1700, "bot-started-speaking"),
    { type: "bot-heard", atMs: 1750 },
  ]);
  assert.deepEqual(latency.answered, [200]);
  assert.deepEqual(latency.voiceToVoice, [750]);
  assert.deepEqual(latency.gaps, [{ fromMs: 1000, toMs: 1750 }]);
});

test("sentences after the first are no second answer", () => {
  const latency = play([
    got(0, "user-stopped-speaking"),
    got(300, "bot-started-speaking"),
    got(900, "bot-started-speaking"),
    { type: "bot-heard", atMs: 950 },
    { type: "bot-heard", atMs: 990 },
  ]);
  assert.deepEqual(latency.answered, [300]);
});

test("a user who goes on talking, or a bot that speaks first, gives no sample", () => {
  assert.deepEqual(
    play([
      got(0, "user-stopped-speaking"),
      got(100, "user-started-speaking"),
      got(200, "bot-started-speaking"),
    ]).answered,
    [],
  );
  assert.deepEqual(play([got(0, "bot-started-speaking")]).answered, []);
  assert.deepEqual(play([got(0, "user-stopped-speaking"), got(60_000, "bot-started-speaking")]).answered, []);
});

test("typed text waits for an answer too, without a voice to measure from", () => {
  const latency = play([
    { type: "user-quiet", atMs: 10 },
    { type: "message-sent", message: { type: "send-text", data: {} }, atMs: 5000 },
    got(5400, "bot-started-speaking"),
    { type: "bot-heard", atMs: 5450 },
  ]);
  assert.deepEqual(latency.answered, [400]);
  assert.deepEqual(latency.voiceToVoice, []);
});

test("the median", () => {
  assert.equal(median([]), undefined);
  assert.equal(median([30, 10, 20]), 20);
  assert.equal(median([40, 10, 20, 30]), 25);
});

test("samples are bounded", () => {
  const events = Array.from({ length: 500 }, (_, index) => [
    got(index * 10, "user-stopped-speaking"),
    got(index * 10 + 5, "bot-started-speaking"),
  ]).flat();
  assert.equal(play(events).answered.length, 200);
});
