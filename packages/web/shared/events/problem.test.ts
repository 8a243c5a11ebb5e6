import assert from "node:assert/strict";
import { test } from "node:test";
import { problemFromClose, problemFromMicrophone, refusalText } from "./problem.ts";

test("errors of getUserMedia become problems", () => {
  const check = (name: string, code: string) =>
    assert.equal(problemFromMicrophone(Object.assign(new Error("x"), { name })).code, code);
  check("NotAllowedError", "microphone-denied");
  check("NotFoundError", "microphone-missing");
  check("OverconstrainedError", "microphone-missing");
  check("NotReadableError", "microphone-busy");
  check("TypeError", "microphone-failed");
  assert.equal(problemFromMicrophone("odd").code, "microphone-failed");
});

test("a normal close is no problem", () => {
  assert.equal(problemFromClose(1000), undefined);
  assert.equal(problemFromClose(1011)?.code, "bot-failed");
  assert.equal(problemFromClose(1006)?.code, "connection-lost");
});

test("a refusal is shown as the runner put it", () => {
  assert.equal(refusalText("Unknown transport 'x'."), "Unknown transport 'x'.");
  assert.equal(
    refusalText([{ loc: ["body", "transport"], msg: "must be a string", type: "invalid" }]),
    "body.transport: must be a string",
  );
  assert.equal(refusalText(undefined), undefined);
  assert.equal(refusalText([]), undefined);
  assert.equal(refusalText({ some: "thing" }), undefined);
});
