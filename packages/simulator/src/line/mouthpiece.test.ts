import assert from "node:assert/strict";
import { test } from "node:test";
import { createConversation } from "../caller/conversation.ts";
import type { CallEvent } from "../place-call-options.ts";
import { dial, loud } from "../testing/dial.ts";

test("timestamps follow the sound, and an hour makes no drift", () => {
  const { clock, socket } = dial();
  socket.open();
  clock.runFor(600_000);
  const media = socket.events("media") as { media: { timestamp: string; chunk: string } }[];
  assert.equal(media.length, 30_000);
  assert.equal(media.at(-1)?.media.timestamp, "599980");
  assert.equal(media.at(-1)?.media.chunk, "30000");
});

test("answers are timed from the end of what was said", async () => {
  const sentence = { samples: new Int16Array(800 * 8).fill(5000), sampleRateHz: 8000 };
  const events: CallEvent[] = [];
  const { call, clock, socket } = dial({
    voice: createConversation({ sampleRateHz: 8000, sentences: [sentence] }),
    onEvent: (event) => events.push(event),
  });
  socket.open();
  clock.runFor(2400); // said from 1000 to 1800
  socket.say(loud(500));
  clock.runFor(2000);
  call.hangUp();
  socket.end(1000);
  assert.deepEqual((await call.ended).summary.answersMs, [620]);
  const speech = events.map(({ type }) => type).filter((type) => type.includes("speech"));
  assert.deepEqual(speech, [
    "caller-speech-start",
    "caller-speech-end",
    "bot-speech-start",
    "bot-speech-end",
  ]);
  assert.equal(events.at(-1)?.type, "call-ended");
});

test("jitter and loss are the same for the same seed", () => {
  const chunksOf = (seed: number): unknown[] => {
    const { clock, socket } = dial({ jitterMs: 30, lossPercent: 10, seed });
    socket.open();
    clock.runFor(10_000);
    return socket.events("media").map(({ media }) => (media as { timestamp: string }).timestamp);
  };
  assert.deepEqual(chunksOf(4), chunksOf(4));
  assert.notDeepEqual(chunksOf(4), chunksOf(5));
  const received = chunksOf(4).length;
  assert.ok(received > 400 && received < 480, `${received}`);
});

test("lost sound leaves a hole in the timestamps, not in the numbers", () => {
  const { clock, socket } = dial({ lossPercent: 20 });
  socket.open();
  clock.runFor(2000);
  const media = socket.events("media").map(({ media }) => media as { chunk: string; timestamp: string });
  assert.deepEqual(
    media.map(({ chunk }) => Number(chunk)),
    media.map((_, index) => index + 1),
  );
  assert.ok(Number(media.at(-1)?.timestamp) > media.length * 20);
});
