import type { ConnectStep } from "../../shared/events/connection-event.ts";
import type { Phase } from "../../shared/events/phase.ts";
import type { Problem, ProblemCode } from "../../shared/events/problem.ts";
import { toSpan } from "../../shared/duration.ts";
import type { Speaking } from "../../shared/voice/speaking.ts";

export interface TalkWords {
  title: string;
  note: string;
}

const steps: Record<ConnectStep, TalkWords> = {
  microphone: {
    title: "Asking for your microphone",
    note: "Your browser may ask for permission first.",
  },
  start: {
    title: "Starting a session",
    note: "A warm instance answers at once; a cold start takes a moment.",
  },
  connect: { title: "Connecting", note: "Finding a route to the instance." },
  bot: { title: "Waiting for the bot", note: "Connected; the bot is starting up." },
};

/** The state of the conversation in plain words. */
export function talkWords(now: {
  phase: Phase;
  speaking: Speaking;
  muted: boolean;
  /** As a call, through whom. */
  carrier: string | undefined;
}): TalkWords {
  const { phase, speaking, muted, carrier } = now;
  switch (phase.name) {
    case "idle":
      return carrier
        ? { title: "Ready to call", note: `The agent takes a call from ${carrier}; no phone needed.` }
        : { title: "Ready when you are", note: "Start a session, then just talk." };
    case "connecting":
      if (carrier && phase.step !== "microphone")
        return { title: "Calling…", note: `As a call from ${carrier}.` };
      return steps[phase.step];
    case "live":
      if (phase.interrupted) return { title: "Connection interrupted", note: "Trying to reconnect." };
      if (speaking.bot) return { title: "The bot is speaking", note: "" };
      if (muted) return { title: "You are muted", note: "" };
      if (speaking.user) return { title: "Hearing you", note: "" };
      return { title: carrier ? "Connected" : "Listening", note: "" };
    case "ending":
      return { title: "Hanging up", note: "" };
    case "ended": {
      const note = `It lasted ${toSpan(phase.durationMs)}.`;
      return phase.by === "bot" ? { title: "The bot hung up", note } : { title: "You hung up", note };
    }
    case "failed":
      return { title: toHostedProblem(phase.problem).title, note: "" };
    default:
      return phase satisfies never;
  }
}

const LOGS = "The agent's logs may say more.";

/** Texts that differ because there is a service instead of a runner in a terminal. */
const hosted: Partial<Record<ProblemCode, Pick<Problem, "title" | "advice">>> = {
  "microphone-insecure": {
    title: "This address cannot use the microphone",
    advice:
      "Browsers allow it only on https:// addresses and on localhost. Put HTTPS in front of the service.",
  },
  "runner-unreachable": {
    title: "The service is not responding",
    advice: "Check your connection, and that the service is running. Then try again.",
  },
  "page-outdated": {
    title: "This page is out of date",
    advice: "The service has been updated since this page was opened. Reload it.",
  },
  "start-refused": { title: "The service did not start a session", advice: LOGS },
  "start-timeout": { title: "Starting the session took too long", advice: `${LOGS} Then try again.` },
  "connection-failed": {
    title: "No media connection could be made",
    advice:
      "A firewall or VPN may block UDP between this browser and the instance. Try WebSocket, or give the service a TURN server.",
  },
  "socket-failed": {
    title: "The WebSocket could not be opened",
    advice: "The agent may be at capacity, or a proxy may block WebSockets. The agent's page shows its pool.",
  },
  "call-refused": {
    title: "The agent did not pick up",
    advice: "It may be at capacity: its page shows the pool. Its logs may say more.",
  },
  "call-timeout": {
    title: "Nobody picked up",
    advice: "The line did not open within ten seconds. The agent's logs may say why.",
  },
  "bot-silent": {
    title: "The bot never said it was ready",
    advice: "The connection was made, but the bot did not start in time. Check the agent's logs.",
  },
  "bot-left-early": {
    title: "The bot left before it was ready",
    advice: "It probably failed while starting. Check the agent's logs.",
  },
  "bot-failed": {
    title: "The bot reported an error",
    advice: "The session has ended. Check the agent's logs.",
  },
  "connection-lost": {
    title: "The connection was lost",
    advice: "Check your network and that the service is still running, then try again.",
  },
};

export function toHostedProblem(found: Problem): Problem {
  const words = { ...found, ...hosted[found.code] };
  return { ...words, ...(found.detail ? { detail: found.detail.replace("The runner", "The service") } : {}) };
}
