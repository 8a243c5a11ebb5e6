import { ApiError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isMissing, isSignedOut, toProblem, toSentence } from "./problem.ts";

const refusal = (status: number, message: string, detail?: unknown) =>
  new ApiError({ status, code: "X", message, detail });

test("what the service says is shown, with the fields it names", () => {
  const detail = [{ loc: ["body", "autoScaling", "minAgents"], msg: "Too many", type: "custom" }];
  assert.match(
    toProblem(refusal(400, "Invalid parameters", detail)).detail,
    /autoScaling\.minAgents: Too many/,
  );
  assert.match(toSentence(refusal(409, "There is one already")), /There is one already/);
});

test("a role that is read-only is told apart from other refusals", () => {
  assert.match(toProblem(refusal(403, "Access denied")).detail, /is read-only/);
  assert.match(
    toProblem(refusal(403, "You do not belong to an organisation")).detail,
    /not belong to an organisation/,
  );
});

test("silence is a problem of its own", () => {
  assert.match(toProblem(new DOMException("late", "TimeoutError")).title, /in time/);
  assert.match(toProblem(new TypeError("Failed to fetch")).title, /cannot be reached/);
});

test("being signed out and missing things are recognised", () => {
  assert.ok(isSignedOut(refusal(401, "Unauthorized")) && !isSignedOut(refusal(403, "")));
  assert.ok(isMissing(refusal(404, "Not found")) && !isMissing(new Error("x")));
});
