import type { CallOutcome } from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { test } from "node:test";
import { toEnding } from "./call-ending.ts";

function check(outcome: CallOutcome, expected: string): void {
  const ending = toEnding(outcome);
  if (ending.type === "session-ended") assert.equal(`ended by ${ending.by}`, expected);
  else assert.equal(ending.type === "session-failed" && ending.problem.code, expected);
}

test("every outcome has its words", () => {
  check({ type: "hung-up", by: "caller", reason: "asked" }, "ended by you");
  check({ type: "hung-up", by: "bot", code: 1000 }, "ended by bot");
  check({ type: "dropped", code: 1011, reason: "" }, "bot-failed");
  check({ type: "dropped", code: 1006, reason: "" }, "connection-lost");
  check({ type: "not-connected", reason: "refused", cause: undefined }, "call-refused");
  check({ type: "not-connected", reason: "timed-out", cause: undefined }, "call-timeout");
  check({ type: "not-connected", reason: "aborted", cause: undefined }, "ended by you");
});
