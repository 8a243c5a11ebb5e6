import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStartBody } from "./parse-start-body.ts";

test("empty text means no body", () => {
  assert.deepEqual(parseStartBody(" \n"), { kind: "none" });
});

test("any JSON value is accepted", () => {
  assert.deepEqual(parseStartBody('{"a":[1]}'), { kind: "value", value: { a: [1] } });
  assert.deepEqual(parseStartBody("null"), { kind: "value", value: null });
});

test("a mistake is explained in one line", () => {
  const check = (text: string, message: string) =>
    assert.deepEqual(parseStartBody(text), { kind: "mistake", message });
  check('{\n  "a": oops\n}', "Not valid JSON: unexpected token 'o'.");
  check('{\n"a" 1}', "Not valid JSON: expected ':' after property name at line 2.");
});

test("a body that would not fit is refused here", () => {
  assert.equal(parseStartBody(JSON.stringify("x".repeat(5000))).kind, "mistake");
});
