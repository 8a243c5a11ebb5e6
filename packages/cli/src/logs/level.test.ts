import assert from "node:assert/strict";
import { test } from "node:test";
import { isAtLeast, levelOf } from "./level.ts";

test("levels are read from what lines say", () => {
  const rows: [string, string][] = [
    ['{"level":50,"msg":"x"}', "ERROR"],
    ['{"level":10,"msg":"x"}', "DEBUG"],
    ["17:31:38 info  session started", "INFO"],
    ["WARN low disk", "WARNING"],
    ["[fatal] gone", "CRITICAL"],
    ["TypeError: x is not a function", "ERROR"],
    ["hello", "INFO"],
  ];
  for (const [line, level] of rows) assert.equal(levelOf(line), level, line);
  assert.equal(isAtLeast("hello", "WARNING"), false);
  assert.equal(isAtLeast("hello", undefined), true);
  assert.equal(isAtLeast("error: no", "WARNING"), true);
});
