import type { ConnectionEvent, ConnectStep, EndedBy } from "./connection-event.ts";
import type { Problem } from "./problem.ts";

/** Where a connection is. */
export type Phase =
  | { name: "idle" }
  | { name: "connecting"; step: ConnectStep; stepSinceMs: number; transport: string }
  | { name: "live"; sinceMs: number; transport: string; interrupted: boolean }
  | { name: "ending"; sinceMs: number | undefined }
  | { name: "ended"; by: EndedBy; durationMs: number }
  | { name: "failed"; problem: Problem };

export function nextPhase(phase: Phase, event: ConnectionEvent): Phase {
  switch (event.type) {
    case "session-requested": {
      const step = event.microphone ? "microphone" : "start";
      return { name: "connecting", step, stepSinceMs: event.atMs, transport: event.transport };
    }
    case "step-reached":
      return phase.name === "connecting" ? { ...phase, step: event.step, stepSinceMs: event.atMs } : phase;
    case "bot-ready":
    case "call-connected":
      // Repeated after a rebuilt peer connection; only the first one starts the clock.
      return phase.name === "connecting"
        ? { name: "live", sinceMs: event.atMs, transport: phase.transport, interrupted: false }
        : phase;
    case "link-interrupted":
    case "link-restored":
      return phase.name === "live" ? { ...phase, interrupted: event.type === "link-interrupted" } : phase;
    case "session-ending":
      return { name: "ending", sinceMs: startOf(phase) };
    case "session-ended": {
      const sinceMs = startOf(phase);
      // Giving up while connecting is a change of mind, not a session that ended.
      if (sinceMs === undefined) return { name: "idle" };
      return { name: "ended", by: event.by, durationMs: event.atMs - sinceMs };
    }
    case "session-failed":
      return { name: "failed", problem: event.problem };
    case "runner-found":
      return phase.name === "failed" && phase.problem.code === "runner-unreachable"
        ? { name: "idle" }
        : phase;
    default:
      return phase;
  }
}

export function isOpen(phase: Phase): boolean {
  return phase.name === "connecting" || phase.name === "live" || phase.name === "ending";
}

function startOf(phase: Phase): number | undefined {
  return phase.name === "live" || phase.name === "ending" ? phase.sinceMs : undefined;
}
