import type { ConnectStep } from "../events/connection-event.ts";
import { problem, problemFromClose, refusalText, type Problem, type ProblemCode } from "../events/problem.ts";

/** A start failed; the runner's own words came through the error callback. */
export function problemFromStart(failure: {
  error: unknown;
  refusal: unknown;
  runnerAnswers: boolean;
}): Problem {
  const { error, refusal, runnerAnswers } = failure;
  // The client gives a failed request the status 500 too, so only asking again can tell.
  if (!runnerAnswers) return problem("runner-unreachable");
  // It reads a refusal as JSON, and fails on anything else.
  if (error instanceof SyntaxError) return problem("start-refused", "The answer was not JSON.");
  return problem("start-refused", refusalText(refusal) ?? `HTTP status ${statusOf(error)}`);
}

/** The transport could not connect. */
export function problemFromConnect(error: unknown, failure: ProblemCode): Problem {
  const message = error instanceof Error ? error.message : undefined;
  const status = statusOf(error);
  if (status !== undefined) return problem("start-refused", message);
  return problem(failure, message);
}

export function problemFromTimeout(step: ConnectStep, failure: ProblemCode): Problem {
  switch (step) {
    case "microphone":
      return problem("microphone-silent");
    case "start":
      return problem("start-timeout");
    case "connect":
      return problem(failure);
    case "bot":
      return problem("bot-silent");
    default:
      return step satisfies never;
  }
}

/** A fatal error of a running session; `undefined` if the bot simply ended it. */
export function problemFromFatal(text: unknown): Problem | undefined {
  const message = typeof text === "string" ? text : "";
  // The socket transport reports every end, also a good one, as an error with this text.
  const close = /^websocket connection closed\. Code: (\d+)/.exec(message);
  if (close) return problemFromClose(Number(close[1]));
  if (message.startsWith("websocket ")) return problem("connection-lost", message);
  return problem("bot-failed", message || undefined);
}

function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  return typeof status === "number" ? status : undefined;
}
