import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDurationMs, parsePercent } from "./command-option.ts";

test("times", () => {
  const table: [string, number][] = [
    ["500ms", 500],
    ["20s", 20_000],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["3", 3000],
    [" 0 ms ", 0],
  ];
  for (const [text, ms] of table) assert.equal(parseDurationMs(text), ms, text);
  for (const text of ["", "abc", "-1s", "1h", "1 s 2", "s"])
    assert.throws(() => parseDurationMs(text), /not a time/);
});

test("percentages", () => {
  const table: [string, number][] = [
    ["2%", 2],
    ["0.5", 0.5],
    ["100 %", 100],
  ];
  for (const [text, percent] of table) assert.equal(parsePercent(text), percent, text);
  for (const text of ["", "x", "-1", "101%", "2%%"])
    assert.throws(() => parsePercent(text), /not a percentage/);
});
