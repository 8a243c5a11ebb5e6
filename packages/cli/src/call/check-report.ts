import { carriers } from "@vocalhost/carriers";
import type { CallReport } from "@vocalhost/simulator";
import { Problem } from "../problem.ts";
import type { CallOptions } from "./call-options.ts";

/** Undefined when the call went as it should. */
export function checkReport(
  { outcome, summary }: Pick<CallReport, "outcome" | "summary">,
  expected: Pick<CallOptions, "expectAudio" | "strict">,
): Problem | undefined {
  if (outcome.type === "dropped" && outcome.reason === BOT_FAILED)
    return new Problem("bot_failed", `The bot failed ${Math.round(summary.durationMs)} ms into the call.`, {
      why: summary.firstAudioMs === undefined ? "It hung up before anything was heard of it." : "It hung up.",
      fixes: ["See the error in the bot's log."],
    });
  if (outcome.type === "dropped")
    return new Problem("dropped", `The connection broke with close code ${outcome.code}.`, {
      why: outcome.reason || CLOSE_CODES[outcome.code],
      fixes: ["Check the bot's log: it may have failed."],
    });
  if (expected.expectAudio && summary.firstAudioMs === undefined)
    return new Problem("no_audio", "The bot was never heard.", {
      why:
        summary.pacing.chunks > 0
          ? "It sent audio, but nothing in it was audible."
          : "It sent no audio the carrier could play.",
      fixes: summary.violations.length > 0 ? ["See the protocol violations above."] : [],
    });
  const violations = summary.violations.reduce((sum, { count }) => sum + count, 0);
  if (expected.strict && violations > 0)
    return new Problem(
      "protocol_violated",
      `The bot broke ${carriers[summary.carrier].title}'s protocol ${violations === 1 ? "once" : `${violations} times`}.`,
    );
  return undefined;
}

const BOT_FAILED = "bot failed"; // said by the session server with close code 1011
const CLOSE_CODES: Record<number, string> = {
  1002: "The other side reported a protocol error.",
  1006: "It ended without a closing handshake: the process may have ended, or the network failed.",
  1009: "A message was too large.",
  1011: "The other side failed.",
  1013: "The other side is overloaded.",
};
