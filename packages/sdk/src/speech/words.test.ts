import assert from "node:assert/strict";
import { test } from "node:test";
import { heardWords, timeWords } from "./words.ts";

test("a word counts once its end was heard", () => {
  const words = [
    { text: "Hello", startMs: 0, endMs: 400 },
    { text: "there", startMs: 450, endMs: 800 },
  ];
  const heard = (playedMs: number): string[] => heardWords(words, playedMs).map(({ text }) => text);
  assert.deepEqual(heard(0), []);
  assert.deepEqual(heard(379), []);
  assert.deepEqual(heard(390), ["Hello"], "to a piece of audio");
  assert.deepEqual(heard(779), ["Hello"]);
  assert.deepEqual(heard(5_000), ["Hello", "there"]);
});

test("words without times are spread over the length, in any writing", () => {
  for (const text of ["Well, 3.5 percent. Sure!", "今日はいい天気ですね。", "« Bonjour ! »", " "]) {
    const words = timeWords(text, 1_000);
    assert.equal(words.map((word) => word.text).join(""), text);
    assert.equal(words[0]?.startMs, 0);
    assert.equal(words.at(-1)?.endMs, 1_000);
    for (const [at, word] of words.entries()) assert.equal(word.startMs, words[at - 1]?.endMs ?? 0);
  }
  assert.ok(timeWords("今日はいい天気ですね。", 1_000).length >= 4, "not one word");
  assert.deepEqual(timeWords("", 1_000), []);
  const half = heardWords(timeWords("one two three four", 1_000), 430);
  assert.equal(half.map(({ text }) => text).join(""), "one two ");
});
