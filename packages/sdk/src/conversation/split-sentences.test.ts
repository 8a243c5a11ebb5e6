import assert from "node:assert/strict";
import { test } from "node:test";
import { createSentenceSplitter } from "./split-sentences.ts";

/** A text is split at the same places, however it is cut into pieces. */
function check(text: string, expected: string[], options?: { maxCharacters: number }): void {
  for (const length of [1, 3, 7, text.length]) {
    const splitter = createSentenceSplitter(options);
    const found: string[] = [];
    const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
      text.slice(at * length, (at + 1) * length),
    );
    for (const piece of pieces) found.push(...splitter.push(piece));
    found.push(...splitter.flush());
    assert.deepEqual(found, expected, `in pieces of ${length}`);
  }
}

test("sentences of every script", () => {
  check("Hello there! How are you? I am fine.", ["Hello there!", "How are you?", "I am fine."]);
  check("今天天气很好。我们去公园吧！好吗？", ["今天天气很好。", "我们去公园吧！", "好吗？"]);
  check("はい、わかりました。「大丈夫です。」少々お待ちください。", [
    "はい、わかりました。",
    "「大丈夫です。」",
    "少々お待ちください。",
  ]);
  check("नमस्ते। आप कैसे हैं?", ["नमस्ते।", "आप कैसे हैं?"]);
});

test("points that end nothing", () => {
  check("Dr. Smith earns 3.5 million. Ask J. R. Miller, e.g. Monday.", [
    "Dr. Smith earns 3.5 million.",
    "Ask J. R. Miller, e.g. Monday.",
  ]);
  check("See No. 5 at 10.30 a.m. on example.com. No. It is closed.", [
    "See No. 5 at 10.30 a.m. on example.com.",
    "No.",
    "It is closed.",
  ]);
  check("Kommen Sie zu Hr. Meier, z. B. Montag. Gut?", ["Kommen Sie zu Hr. Meier, z. B. Montag.", "Gut?"]);
});

test("lists, line by line, each with its number", () => {
  check("You need:\n1. Two eggs\n2. A cup of milk\n\n- and salt\n", [
    "You need:",
    "1. Two eggs",
    "2. A cup of milk",
    "- and salt",
  ]);
});

test("marks stay with their sentence", () => {
  check('She said "Stop!" Then **nothing.** 🙂 Done.', ['She said "Stop!"', "Then **nothing.**", "🙂 Done."]);
  check("", []);
  check("  \n ", []);
});

test("a sentence without an end is cut between clauses, else between words", () => {
  check(
    "We have apples and pears, plums and cherries, and much else besides",
    ["We have apples and pears,", "plums and cherries,", "and much else besides"],
    { maxCharacters: 30 },
  );
  check("one two three four five six", ["one two", "three four", "five six"], { maxCharacters: 10 });
  const chinese = "我们今天去公园散步然后去超市买东西";
  const splitter = createSentenceSplitter({ maxCharacters: 6 });
  const pieces = [...splitter.push(chinese), ...splitter.flush()];
  assert.equal(pieces.join(""), chinese);
  assert.ok(
    pieces.every(({ length }) => length <= 6),
    pieces.join("|"),
  );
});

test("the first sentence is there as soon as the second begins", () => {
  const splitter = createSentenceSplitter();
  assert.deepEqual(splitter.push("It is done. "), []);
  assert.deepEqual(splitter.push("N"), ["It is done."]);
});
