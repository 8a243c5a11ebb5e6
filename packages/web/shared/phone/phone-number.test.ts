import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePhoneNumber } from "./call-choice.ts";

function check(typed: string, expected: string | undefined): void {
  const parsed = parsePhoneNumber(typed);
  assert.equal(parsed.kind === "number" ? parsed.text : undefined, expected, typed);
}

test("numbers are taken as people write them", () => {
  check("+12025550143", "+12025550143");
  check(" +1 (202) 555-0143 ", "+12025550143");
  check("030/123.45", "03012345");
  check("*21#", "*21#");
});

test("what no telephone could dial is a mistake", () => {
  for (const typed of ["", "  ", "call me", "1+2", "+", "++1", "1".repeat(21)]) check(typed, undefined);
});
