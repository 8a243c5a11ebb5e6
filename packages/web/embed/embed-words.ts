import type { Phase } from "../shared/events/phase.ts";
import type { Problem } from "../shared/events/problem.ts";

/** The text beside the button. Empty where the button says enough. */
export function embedWords(phase: Phase): string {
  switch (phase.name) {
    case "connecting":
      return phase.step === "microphone" ? "Please allow the microphone" : "Connecting…";
    case "live":
      return phase.interrupted ? "Reconnecting…" : "";
    case "failed":
      return problemWords(phase.problem);
    case "idle":
    case "ending":
    case "ended":
      return "";
    default:
      return phase satisfies never;
  }
}

/** Visitors have neither a runner nor a terminal; its developers find the rest in the browser's console. */
function problemWords({ code, title }: Problem): string {
  switch (code) {
    case "microphone-denied":
      return "The microphone is blocked. Allow it beside the address of this page, then try again.";
    case "microphone-insecure":
      return "The microphone works only on https:// pages.";
    case "microphone-missing":
    case "microphone-busy":
    case "microphone-silent":
    case "microphone-failed":
      return `${title}.`;
    case "connection-lost":
      return "The connection was lost. Please try again.";
    default:
      return "The call could not be connected. Please try again later.";
  }
}
