import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { RtviSession } from "vocalhost";
import { createSubtitles, type Subtitles } from "./subtitles.ts";

const TEXT = "It is far. Shall we go?";
let told: string[];
let subtitles: Subtitles;

beforeEach(() => {
  told = [];
  const rtvi: Pick<RtviSession, "send" | "botOutput" | "botInterrupted"> = {
    send: (type, data: unknown) => void told.push(data ? `${type} ${(data as { text: string }).text}` : type),
    botInterrupted: () => void told.push("bot-interrupted"),
    botOutput(text, options) {
      told.push(options?.spoken === false ? `read ${text}` : `new ${text}`);
      return {
        spokenUpTo: (characters) => void told.push(`spoken ${text.slice(0, characters)}`),
        completed: () => void told.push(`completed ${text}`),
      };
    },
  };
  subtitles = createSubtitles(rtvi as RtviSession);
});

test("a sentence is shown when it is heard, and told as far as it is", () => {
  subtitles.written(TEXT);
  subtitles.writtenToTheEnd();
  subtitles.sounds();
  for (const characters of [0, 6, 11, TEXT.length, TEXT.length]) subtitles.heard(TEXT, characters);
  subtitles.over({ interrupted: false });
  assert.deepEqual(told, [
    "bot-llm-started",
    `bot-llm-text ${TEXT}`,
    "bot-llm-stopped",
    "bot-tts-started",
    "new It is far.",
    "bot-tts-text It is",
    "spoken It is ",
    "bot-tts-text far.",
    "completed It is far.",
    "bot-tts-text Shall we go?",
    "new Shall we go?",
    "completed Shall we go?",
    "bot-tts-stopped",
  ]);
});

test("what an interruption kept from being said is not shown, and the next speech begins anew", () => {
  subtitles.written(TEXT);
  subtitles.sounds();
  subtitles.heard(TEXT, 6);
  subtitles.over({ interrupted: true });
  assert.deepEqual(told.slice(-4), [
    "spoken It is ",
    "bot-llm-stopped",
    "bot-tts-stopped",
    "bot-interrupted",
  ]);
  assert.ok(!told.some((message) => message.includes("new Shall")));
  told.length = 0;
  subtitles.written("Fine.");
  subtitles.writtenToTheEnd();
  subtitles.sounds();
  subtitles.heard("Fine.", 5);
  assert.deepEqual(told.slice(-3), ["bot-tts-text Fine.", "new Fine.", "completed Fine."]);
});

test("text that is to be read is told once, as such", () => {
  subtitles.written("Fine.");
  subtitles.writtenToTheEnd();
  subtitles.showSilently("Fine.");
  subtitles.over({ interrupted: false });
  assert.deepEqual(told, ["bot-llm-started", "bot-llm-text Fine.", "bot-llm-stopped", "read Fine."]);
});
