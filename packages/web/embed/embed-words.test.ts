import assert from "node:assert/strict";
import { test } from "node:test";
import { problem, type ProblemCode } from "../shared/events/problem.ts";
import { embedWords } from "./embed-words.ts";

test("a visitor hears of the microphone, and of nothing that only developers can mend", () => {
  const table: [ProblemCode, RegExp][] = [
    ["microphone-denied", /blocked.*Allow it/],
    ["microphone-missing", /^No microphone was found\.$/],
    ["start-refused", /^The call could not be connected/],
    ["runner-unreachable", /^The call could not be connected/],
    ["connection-lost", /lost/],
  ];
  for (const [code, words] of table) {
    const said = embedWords({ name: "failed", problem: problem(code, "HTTP status 401") });
    assert.match(said, words);
    assert.doesNotMatch(said, /runner|terminal|401/);
  }
  assert.equal(embedWords({ name: "idle" }), "");
});
