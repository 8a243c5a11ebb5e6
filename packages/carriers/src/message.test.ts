import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, asMessage, asNumber, asText } from "./message.ts";

test("numbers are read from numbers and from text", () => {
  const cases: [unknown, number | undefined][] = [
    [8000, 8000],
    ["8000", 8000],
    ["0", 0],
    [0, 0],
    ["-3", -3],
    ["", undefined],
    ["eight", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [[8000], undefined],
    [{}, undefined],
  ];
  for (const [value, expected] of cases) assert.equal(asNumber(value), expected, JSON.stringify(value));
});

test("only objects are messages, only non-empty strings are text", () => {
  for (const none of [null, undefined, 5, "text", [], [{}]]) assert.deepEqual(asMessage(none), {});
  assert.deepEqual(asMessage({ a: 1 }), { a: 1 });
  for (const none of ["", 5, null, undefined, {}, ["text"]]) assert.equal(asText(none), undefined);
  assert.equal(asText("text"), "text");
});

test("ids are what carriers give, and lead nowhere else in an address", () => {
  const real = [
    "CA0123456789abcdef0123456789abcdef",
    "v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQczRrZvZakpWxBlpw48KyZQ==",
    "v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg",
    "5b2a97a2-58b6-11e1-86da-77300b68f8bb",
    "ws_mock_call_sid",
    "a+b/c=.d",
  ];
  for (const id of real) assert.equal(asId(id), id);
  const leading = ["", ".", "..", "...", "../x", "a/../b", "a/.", "./a"];
  const odd = [
    "\ud800",
    "é",
    "a b",
    "a\n",
    "a?b",
    "a#b",
    "a%2e",
    "a\\b",
    "<a>",
    "x".repeat(257),
    5,
    null,
    ["CA"],
  ];
  for (const id of [...leading, ...odd]) assert.equal(asId(id), undefined, JSON.stringify(id));
});
