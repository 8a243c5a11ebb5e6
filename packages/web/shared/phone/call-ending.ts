import type { CallOutcome } from "@vocalhost/simulator";
import type { ConnectionReport } from "../events/connection-event.ts";
import { problem, problemFromClose } from "../events/problem.ts";

/** How a call ended, in the page's words. */
export function toEnding(outcome: CallOutcome): ConnectionReport {
  switch (outcome.type) {
    case "hung-up":
      return { type: "session-ended", by: outcome.by === "bot" ? "bot" : "you" };
    case "dropped":
      return {
        type: "session-failed",
        problem: problemFromClose(outcome.code) ?? problem("connection-lost"),
      };
    case "not-connected":
      return toFailure(outcome.reason);
    default:
      return outcome satisfies never;
  }
}

function toFailure(reason: "refused" | "timed-out" | "aborted"): ConnectionReport {
  switch (reason) {
    case "aborted":
      return { type: "session-ended", by: "you" };
    case "refused":
      return { type: "session-failed", problem: problem("call-refused") };
    case "timed-out":
      return { type: "session-failed", problem: problem("call-timeout") };
    default:
      return reason satisfies never;
  }
}
