import assert from "node:assert/strict";
import { test } from "node:test";
import { cutLine, toInertLines, toInertText } from "./inert-text.ts";

test("control characters become pictures of themselves", () => {
  const check = (text: string, expected: string): void => assert.equal(toInertText(text), expected);
  check("plain äöü 語 🎉\tafter a tab", "plain äöü 語 🎉\tafter a tab");
  check("\u001b[31mred\u001b[0m", "␛[31mred␛[0m");
  check("a\rb\r", "a␍b");
  check("a\u0000b\u0007\u007f", "a␀b␇␡");
  check("one\ntwo", "one␊two");
  check("\u009b31m", "<U+009B>31m");
  check("abc\u202edef\u2028", "abc<U+202E>def<U+2028>");
  check("half \ud83d", "half \ufffd");
});

test("long lines are cut between characters", () => {
  assert.equal(cutLine("a".repeat(16_384)), "a".repeat(16_384));
  assert.equal(cutLine("a".repeat(16_385)), `${"a".repeat(16_384)} … (cut, 1 more)`);
  assert.equal(cutLine(`a${"€".repeat(6_000)}`), `a${"€".repeat(5_461)} … (cut, 1617 more)`);
  assert.equal(cutLine("short", 10), "short … (cut, 10 more)");
});

test("several lines stay several lines", () => {
  assert.equal(toInertLines("a\0b\r\n\u001b[2J\tc\n"), "a␀b\n␛[2J\tc\n");
});
