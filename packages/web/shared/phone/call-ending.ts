import type { CallOutcome } from "@vocalhost/simulator";
import type { ConnectionReport, ReceivedMessage } from "../events/connection-event.ts";
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

const SOUND = /"event":\s*"(?:media|playAudio)"/; // dozens a second
const SHOWN_CHARACTERS = 400;

/** A message of the media stream as the event log shows it; sound is left out. */
export function toLoggedMessage(text: string): ReceivedMessage | undefined {
  if (SOUND.test(text)) return undefined;
  try {
    const { event, ...data } = JSON.parse(text) as Record<string, unknown>;
    if (typeof event === "string") return { type: event, data };
  } catch {} // a bot may send anything
  return { type: "unreadable", data: text.slice(0, SHOWN_CHARACTERS) };
}
