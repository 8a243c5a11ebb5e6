import assert from "node:assert/strict";
import { test } from "node:test";
import { createConversation } from "../caller/conversation.ts";
import { createSpeechLike } from "../caller/speech-like.ts";
import { dial } from "../testing/dial.ts";
import { surroundingNames } from "./surrounding-names.ts";
import { createSurroundings, parseSurroundings, speechLevel } from "./surroundings.ts";

test("a background is a sound and how far it is below the voice", () => {
  assert.deepEqual(parseSurroundings("talker:10dB"), { name: "talker", belowDb: 10 });
  assert.deepEqual(parseSurroundings(" Babble : 2.5 "), { name: "babble", belowDb: 2.5 });
  assert.deepEqual(parseSurroundings("music"), { name: "music", belowDb: 10 });
  assert.deepEqual(parseSurroundings("talker:10dB@3s"), { name: "talker", belowDb: 10, startMs: 3_000 });
  assert.deepEqual(parseSurroundings("babble @ 0.5 s"), { name: "babble", belowDb: 10, startMs: 500 });
  for (const text of [
    "talker@",
    "talker@3",
    "talker:10dB@-1s",
    "",
    "talker:",
    "talker:-3dB",
    "talker:61dB",
    "dog:10dB",
    "talker:10dBm",
    "10dB",
  ])
    assert.throws(() => parseSurroundings(text), /For example: talker:10dB/, text);
});

test("every sound is as loud as asked for, at any rate, and goes on", () => {
  for (const name of surroundingNames)
    for (const sampleRateHz of [8_000, 16_000]) {
      const next = createSurroundings({ name, belowDb: 10, sampleRateHz, voiceLevel: 3_000 });
      const first = next(10 * sampleRateHz);
      const level = 20 * Math.log10(speechLevel(first, sampleRateHz) / 3_000);
      assert.ok(Math.abs(level + 10) < 2, `${name} at ${sampleRateHz} Hz: ${level.toFixed(1)} dB`);
      assert.ok(speechLevel(next(10 * sampleRateHz), sampleRateHz) > 500, `${name} goes on`);
    }
});

test("a sound that begins late is silent until then, to the sample", () => {
  const late = createSurroundings({ name: "noise", belowDb: 0, sampleRateHz: 8_000, startMs: 1_250 });
  const plain = createSurroundings({ name: "noise", belowDb: 0, sampleRateHz: 8_000 });
  assert.deepEqual(late(4_000), new Int16Array(4_000));
  const rest = late(8_000);
  assert.deepEqual(rest.subarray(0, 6_000), new Int16Array(6_000));
  assert.deepEqual(rest.subarray(6_000), plain(2_000));
});

test("the same seed gives the same sound", () => {
  const hear = (seed: number) =>
    createSurroundings({ name: "noise", belowDb: 0, sampleRateHz: 8_000, seed })(50);
  assert.deepEqual(hear(3), hear(3));
  assert.notDeepEqual(hear(3), hear(4));
});

test("what is around the caller is sent and recorded, and not taken for the caller", async () => {
  const { call, clock, socket } = dial({
    voice: createConversation({ sampleRateHz: 8_000, sentences: [createSpeechLike()] }),
    surroundings: createSurroundings({ name: "babble", belowDb: 5, sampleRateHz: 8_000 }),
  });
  socket.open();
  clock.runFor(6_000);
  call.hangUp();
  socket.end(1000);
  const { summary, said } = await call.ended;
  assert.ok(summary.said.audibleSeconds < 2.5, `${summary.said.audibleSeconds} s`);
  const lastSecond = said.samples.subarray(-8_000);
  assert.ok(speechLevel(lastSecond, 8_000) > 500);
});
