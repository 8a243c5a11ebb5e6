import assert from "node:assert/strict";
import { test } from "node:test";
import { adaptiveSilence, endingOf, fixedSilence, type Ending } from "./end-of-turn.ts";
import { meaningfulWords } from "./back-channels.ts";

const audio = { samples: new Int16Array(0), sampleRateHz: 16_000 };

const endings: [string, Ending][] = [
  ["I would like a table for two.", "complete"],
  ["Is that all?", "complete"],
  ["好的，谢谢。", "complete"],
  ["yes please", "complete"],
  ["I would like a table", "unsure"],
  ["", "unsure"],
  ["I would like to", "incomplete"],
  ["I would like to, um.", "incomplete"],
  ["Well,", "incomplete"],
  ["It was Monday and.", "incomplete"],
  ["Ich möchte", "incomplete"],
  ["My number is 0 1 7 2", "number"],
  ["five five two", "number"],
  ["What is it for?", "complete"],
];

for (const [text, ending] of endings)
  test(`"${text}" sounds ${ending}`, () => assert.equal(endingOf(text), ending));

test("a user with long pauses is given more time, up to a limit", async () => {
  const judge = adaptiveSilence();
  const unsure = { text: "I would like a table", speechMs: 1_000, audio };
  assert.equal(await judge.silenceMs(unsure), 700);
  for (let pause = 0; pause < 5; pause += 1) judge.spokeOn?.(1_000);
  assert.equal(await judge.silenceMs(unsure), 1_100);
  assert.equal(await judge.silenceMs({ ...unsure, text: "That is all." }), 500);
  for (let pause = 0; pause < 20; pause += 1) judge.spokeOn?.(9_000);
  assert.equal(await judge.silenceMs({ ...unsure, text: "and" }), 2_300);
  assert.equal(await fixedSilence(400).silenceMs(unsure), 400);
});

test("only words that say something count", () => {
  const table: [string, number][] = [
    ["Mm-hmm.", 0],
    ["Yeah, yeah, okay.", 0],
    ["I see. Got it!", 0],
    ["はい", 0],
    ["Yeah but wait", 2],
    ["No", 1],
    ["我想要一张桌子", 4],
    ["", 0],
  ];
  for (const [text, count] of table)
    assert.ok(count === 4 ? meaningfulWords(text) >= 2 : meaningfulWords(text) === count, text);
  assert.equal(meaningfulWords("genau mein", ["mein"]), 1);
});
