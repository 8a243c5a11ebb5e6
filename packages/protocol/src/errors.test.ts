import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, errorTable, isAppError, type ErrorCode } from "./errors.ts";

const codes = Object.keys(errorTable) as ErrorCode[];

test("every row of the table can be shown to a caller", () => {
  for (const code of codes) {
    const { status, retryable, message } = errorTable[code];
    assert.match(code, /^[A-Z]+([_-][A-Z0-9]+)*$/);
    assert.ok(Number.isInteger(status) && status >= 400 && status < 600, code);
    assert.match(message, /^[A-Z].*[^.\s]$/, code);
    // Clients repeat a request on these alone; anything else would fail in the same way again.
    assert.equal(retryable, status === 429 || status === 503, code);
  }
});

test("an error takes what it is not told from the table", () => {
  for (const code of codes) {
    const error = new AppError(code);
    const { status, retryable, message } = errorTable[code];
    assert.deepEqual(
      { name: error.name, code: error.code, status: error.status, retryable: error.retryable },
      { name: "AppError", code, status, retryable },
    );
    assert.deepEqual(error.toBody(), { error: message, code, detail: message });
  }
});

test("a message of its own replaces the table's, the cause stays inside", () => {
  const cause = new Error("disk full");
  const error = new AppError("NOT_FOUND", { message: "There is no such file", cause });
  assert.equal(error.cause, cause);
  assert.equal(error.status, 404);
  assert.deepEqual(error.toBody(), {
    error: "There is no such file",
    code: "NOT_FOUND",
    detail: "There is no such file",
  });
});

test("problems with fields are the detail", () => {
  const problems = [{ loc: ["body", "sdp"], msg: "Required", type: "invalid_type" }];
  const { error, detail } = new AppError("INVALID_REQUEST", {
    message: "body.sdp: Required",
    problems,
  }).toBody();
  assert.equal(error, "body.sdp: Required");
  assert.deepEqual(detail, problems);
});

test("is recognised by its shape, whichever copy of the package made it", () => {
  const fromAnotherCopy = Object.assign(new Error("x"), { code: "NOT_FOUND", toBody: () => ({}) });
  const cases: [unknown, boolean][] = [
    [new AppError("NOT_FOUND"), true],
    [fromAnotherCopy, true],
    [Object.assign(new Error("x"), { code: "ENOENT", toBody: () => ({}) }), false],
    [Object.assign(new Error("x"), { code: "NOT_FOUND" }), false],
    [Object.assign(new Error("x"), { code: "toString", toBody: () => ({}) }), false],
    [{ code: "NOT_FOUND", toBody: () => ({}) }, false],
    [new Error("NOT_FOUND"), false],
    ["NOT_FOUND", false],
    [undefined, false],
    [null, false],
  ];
  for (const [value, expected] of cases) assert.equal(isAppError(value), expected, String(value));
});
