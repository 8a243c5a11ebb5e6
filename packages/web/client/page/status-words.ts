import type { CallSummary } from "@vocalhost/simulator";
import { toSpan } from "../../shared/duration.ts";
import type { Attendee, ConnectStep } from "../../shared/events/connection-event.ts";
import type { Phase } from "../../shared/events/phase.ts";
import type { Speaking } from "../../shared/voice/speaking.ts";
import type { RunnerStatus } from "../runner/runner.ts";

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

/** Returns the state of a call in plain words, or undefined for states that all sessions share. */
export function callWords(options: {
  phase: Phase;
  speaking: Speaking;
  muted: boolean;
  /** As dialled. */
  to: string;
  /** Its name in a sentence. */
  carrier: string;
  /** The simulator's summary of the last call. */
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

/** The display name of a participant: its name, or its identity without the random end. */
export function attendeeName({ kind, name, identity }: Attendee): string {
  if (kind === "you") return "You";
  if (name !== "") return name;
  if (kind === "bot") return "Bot";
  const guest = /^Guest-(\d+)-/.exec(identity)?.[1];
  if (guest) return `Guest ${guest}`;
  return identity.startsWith("User-") ? "Host" : identity;
}
