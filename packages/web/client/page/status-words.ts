import { toSpan } from "../../shared/duration.ts";
import type { ConnectStep } from "../../shared/events/connection-event.ts";
import type { Phase } from "../../shared/events/phase.ts";
import type { RunnerStatus } from "../runner/runner-status.ts";
import type { Speaking } from "../../shared/voice/speaking.ts";

export interface StatusWords {
  title: string;
  note: string;
}

const steps: Record<ConnectStep, StatusWords> = {
  microphone: {
    title: "Asking for your microphone",
    note: "Your browser may ask for permission first.",
  },
  start: { title: "Starting a session", note: "The runner is getting your bot ready." },
  connect: { title: "Connecting", note: "Finding a route to your bot." },
  bot: { title: "Waiting for your bot", note: "Connected; your bot is starting up." },
};

/** The state of things in plain words. */
export function statusWords(options: {
  phase: Phase;
  runner: RunnerStatus;
  speaking: Speaking;
  muted: boolean;
}): StatusWords {
  const { phase, runner, speaking, muted } = options;
  switch (phase.name) {
    case "idle":
      return runner.kind === "looking"
        ? { title: "Looking for your bot", note: "One moment." }
        : { title: "Ready when you are", note: "Connect, then just talk." };
    case "connecting":
      return steps[phase.step];
    case "live": {
      if (phase.interrupted) {
        return { title: "Connection interrupted", note: "Trying to reconnect." };
      }
      if (speaking.bot) return { title: "Your bot is speaking", note: "" };
      if (muted) return { title: "You are muted", note: "" };
      if (speaking.user) return { title: "Hearing you", note: "" };
      return { title: "Listening", note: "" };
    }
    case "ending":
      return { title: "Hanging up", note: "" };
    case "ended": {
      const note = `It lasted ${toSpan(phase.durationMs)}.`;
      return phase.by === "bot"
        ? { title: "Your bot ended the session", note }
        : { title: "Session ended", note };
    }
    case "failed":
      return { title: phase.problem.title, note: phase.problem.advice };
    default:
      return phase satisfies never;
  }
}
