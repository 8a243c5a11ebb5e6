import type { CallSummary } from "@vocalhost/simulator";
import { toSpan } from "../../shared/duration.ts";
import type { Phase } from "../../shared/events/phase.ts";
import type { StatusWords } from "./status-words.ts";
import type { Speaking } from "../../shared/voice/speaking.ts";

/** The state of a call in plain words. What every session has in common is said elsewhere. */
export function callWords(options: {
  phase: Phase;
  speaking: Speaking;
  muted: boolean;
  /** As dialled. */
  to: string;
  /** Its name in a sentence. */
  carrier: string;
  /** What the simulator counted of the last call. */
  summary: Pick<CallSummary, "durationMs" | "heard"> | undefined;
}): StatusWords | undefined {
  const { phase, speaking, muted, to, carrier } = options;
  switch (phase.name) {
    case "idle":
      return { title: "Ready to call", note: "Your bot takes the call; no phone needed." };
    case "connecting":
      return phase.step === "microphone"
        ? undefined
        : { title: "Calling…", note: `${to}, as a call from ${carrier}.` };
    case "live":
      return speaking.bot || speaking.user || muted ? undefined : { title: "Connected", note: "" };
    case "ending":
      return undefined;
    case "ended": {
      const { summary } = options;
      const note = `The call lasted ${toSpan(summary?.durationMs ?? phase.durationMs)}.`;
      if (phase.by === "you") return { title: "You hung up", note };
      const saidNothing = summary?.heard.audibleSeconds === 0;
      return { title: "Your bot hung up", note: saidNothing ? `${note} ${SAID_NOTHING}` : note };
    }
    case "failed":
      return undefined;
    default:
      return phase satisfies never;
  }
}

const SAID_NOTHING = "It said nothing.";
