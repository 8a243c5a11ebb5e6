import { rmsLevel } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackground } from "./background.ts";
import { createConversation, type ConversationOptions, type LineMoment } from "./conversation.ts";
import { createSpeechLike } from "./speech-like.ts";

const RATE_HZ = 8000;
const sentence = (ms: number, value: number) => ({
  samples: new Int16Array(ms * 8).fill(value),
  sampleRateHz: RATE_HZ,
});

/** Runs a caller against a bot that talks as told, and gives when each sentence began. */
function starts(options: Partial<ConversationOptions>, bot: { startMs: number; endMs: number }[]) {
  const voice = createConversation({ sampleRateHz: RATE_HZ, sentences: [], ...options });
  const began = new Map<number, number>();
  let finishedMs: number | undefined;
  for (let atMs = 0; atMs < 40_000; atMs += 20) {
    const value = voice.next(160, lineAt(atMs, bot)).find((sample) => sample !== 0);
    if (value !== undefined && !began.has(value)) began.set(value, atMs);
    if (voice.isFinished) finishedMs ??= atMs;
  }
  return { began: Object.fromEntries(began), finishedMs };
}

function lineAt(atMs: number, bot: { startMs: number; endMs: number }[]): LineMoment {
  const talking = bot.find(({ startMs, endMs }) => startMs < atMs && atMs < endMs);
  const past = bot.filter(({ startMs }) => startMs < atMs).at(-1);
  return {
    atMs,
    botTalkingSinceMs: talking?.startMs,
    botLastHeardMs: past && Math.min(past.endMs, atMs),
  };
}

test("sentences wait for the greeting and for each answer", () => {
  const table: [string, { startMs: number; endMs: number }[], Record<number, number>][] = [
    ["a bot that says nothing", [], { 1: 1000, 2: 9500 }],
    ["a bot that greets", [{ startMs: 500, endMs: 3000 }], { 1: 4000, 2: 12_500 }],
    ["a bot that answers", [{ startMs: 2000, endMs: 5000 }], { 1: 1000, 2: 6000 }],
    [
      "an answer in two pieces",
      [
        { startMs: 2000, endMs: 3000 },
        { startMs: 3500, endMs: 4000 },
      ],
      { 1: 1000, 2: 5000 },
    ],
  ];
  for (const [name, bot, expected] of table) {
    const { began } = starts({ sentences: [sentence(500, 1), sentence(500, 2)] }, bot);
    assert.deepEqual(began, expected, name);
  }
});

test("cuts in when told to, from the second sentence on", () => {
  const bot = [{ startMs: 2000, endMs: 9000 }];
  const sentences = [sentence(500, 1), sentence(500, 2)];
  assert.deepEqual(starts({ sentences, interruptAfterMs: 600 }, bot).began, { 1: 1000, 2: 2600 });
  const greeting = [{ startMs: 100, endMs: 5000 }];
  assert.deepEqual(starts({ sentences, interruptAfterMs: 600 }, greeting).began[1], 6000);
});

test("is finished when everything has been said", () => {
  assert.equal(starts({ sentences: [] }, []).finishedMs, 0);
  assert.equal(starts({ sentences: [sentence(500, 1)] }, []).finishedMs, 1480);
});

test("another rate is converted, the background is heard under it", () => {
  const tone = createBackground({ name: "tone", sampleRateHz: RATE_HZ });
  const voice = createConversation({
    sampleRateHz: RATE_HZ,
    sentences: [{ samples: new Int16Array(16_000).fill(9000), sampleRateHz: 16_000 }],
    background: tone,
  });
  const before = voice.next(8000, { atMs: 0, botTalkingSinceMs: undefined, botLastHeardMs: undefined });
  assert.ok(Math.abs(rmsLevel(before) - 0.17) < 0.01);
  const during = voice.next(7000, { atMs: 1000, botTalkingSinceMs: undefined, botLastHeardMs: undefined });
  const mean = during.reduce((sum, sample) => sum + sample, 0) / during.length;
  assert.ok(Math.abs(mean - 9000) < 100, `${mean}`);
  assert.ok(!voice.isFinished);
  voice.next(1100, { atMs: 1875, botTalkingSinceMs: undefined, botLastHeardMs: undefined });
  assert.ok(voice.isFinished);
});

test("backgrounds are as loud as they should be", () => {
  const level = (name: "silence" | "noise" | "tone"): number =>
    rmsLevel(createBackground({ name, sampleRateHz: RATE_HZ })(8000));
  assert.equal(level("silence"), 0);
  assert.ok(level("noise") > 0.001 && level("noise") < 0.01);
  assert.ok(level("tone") > 0.1);
});

test("the built-in sentence is a short, loud enough, unclipped sound", () => {
  const { samples, sampleRateHz } = createSpeechLike();
  assert.equal(sampleRateHz, 8000);
  assert.equal(samples.length, 13_600);
  assert.ok(rmsLevel(samples) > 0.05 && rmsLevel(samples) < 0.2);
  assert.ok(samples.every((sample) => Math.abs(sample) < 30_000));
  assert.deepEqual(createSpeechLike().samples, samples);
});
