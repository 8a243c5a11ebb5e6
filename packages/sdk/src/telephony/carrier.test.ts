import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, asMessage, asNumber, asText } from "./carrier.ts";

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

test("ids are what can stand in an address", () => {
  for (const id of [
    "CA0123",
    "v3:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ",
    "5b2a-77",
    "..x",
    "a/b",
  ])
    assert.equal(asId(id), id);
  for (const id of ["", ".", "..", "\ud800", "x".repeat(257), 5, null, ["CA"]])
    assert.equal(asId(id), undefined);
});
