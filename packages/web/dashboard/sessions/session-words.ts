import type { Session, SessionDetails, SessionFilter } from "@vocalhost/protocol";
import { toDelay } from "../../shared/duration.ts";
import type { Tone } from "../ui/badge.tsx";

const states: Record<Session["status"], { word: string; tone: Tone }> = {
  pending: { word: "Waiting", tone: "busy" },
  starting: { word: "Starting", tone: "busy" },
  active: { word: "Active", tone: "good" },
  stopping: { word: "Stopping", tone: "busy" },
  ended: { word: "Ended", tone: "plain" },
  failed: { word: "Failed", tone: "bad" },
  expired: { word: "Never connected", tone: "plain" },
};

const faults = new Set(["bot-failed", "instance-lost"]);

export function toSessionState(session: Session): { word: string; tone: Tone } {
  if (session.status === "ended" && faults.has(session.endReason ?? ""))
    return { word: "Failed", tone: "bad" };
  return states[session.status];
}

export function isOpen({ status }: Session): boolean {
  return status === "pending" || status === "starting" || status === "active" || status === "stopping";
}

/** Why it ended. Reasons this page does not know are shown as they are. */
export function toReason(reason: string | null): string {
  return reason === null ? "–" : (reasons[reason] ?? reason);
}

const reasons: Record<string, string> = {
  "bot-finished": "The bot finished",
  "bot-failed": "The bot threw an error",
  "client-left": "The caller left",
  "client-lost": "The caller's connection was lost",
  transferred: "Transferred to another number",
  "hung-up": "The bot hung up",
  idle: "Silence for too long",
  "call-refused": "The carrier did not place the call",
  "never-connected": "No client connected",
  refused: "There was no instance for the caller, or the start was refused",
  "instance-lost": "The instance died",
  "start-timed-out": "The bot did not start in time",
  "controller-restarted": "The service restarted during the start",
  stopped: "Stopped on request",
  deadline: "Reached the session time limit",
  shutdown: "The service shut down",
};

/** The bot reported another length than the service measured; the measured one counts. */
export function toCorrectionWords(correctionMs: number): string {
  const seconds = Math.round(Math.abs(correctionMs) / 100) / 10;
  return `the bot reported ${seconds} s ${correctionMs > 0 ? "less" : "more"} than the service measured`;
}

/** The state of the voice filter in one word. */
export function toFilterState({ state }: SessionFilter): { word: string; tone: Tone } {
  switch (state) {
    case "ran":
      return { word: "Ran", tone: "good" };
    case "not-attached":
      return { word: "Never attached", tone: "bad" };
    case "unavailable":
      return { word: "No engine", tone: "bad" };
    case "failed":
      return { word: "Failed", tone: "bad" };
    case null:
      return { word: "Not known yet", tone: "plain" };
    default:
      return state satisfies never;
  }
}

/** The filter's figures, if it ran. */
export function filterFacts(filter: SessionFilter): { label: string; value: string }[] {
  const { framesIn, framesFiltered, seconds, nearShare, levelRemovedDb, cpuMs } = filter;
  const facts = [
    { label: "Model", value: filter.version === null ? filter.model : `${filter.model} ${filter.version}` },
    { label: "Billed", value: filter.billed ? "yes" : "no" },
  ];
  if (framesIn === 0 && filter.failures === 0) return facts;
  const share = seconds > 0 ? ` (${((cpuMs / (seconds * 1_000)) * 100).toFixed(1)} % of a core)` : "";
  // Some kernels tell a thread's time in ticks, of which a short session sees none.
  const cpuTime = cpuMs > 0 ? `${toDelay(cpuMs)}${share}` : "too little to be measured";
  return [
    ...facts,
    { label: "Frames filtered", value: `${framesFiltered} of ${framesIn}` },
    { label: "Audio", value: toDelay(seconds * 1_000) },
    ...(nearShare === null ? [] : [{ label: "Caller heard in", value: `${(nearShare * 100).toFixed(0)} %` }]),
    ...(levelRemovedDb === null
      ? []
      : [{ label: "Level removed", value: `${levelRemovedDb.toFixed(1)} dB` }]),
    { label: "CPU time", value: cpuTime },
    ...(filter.bypassedSeconds > 0
      ? [{ label: "Switched off for", value: `${toDelay(filter.bypassedSeconds * 1_000)}, to compare` }]
      : []),
    { label: "Failures", value: String(filter.failures) },
  ];
}

export interface Moment {
  label: string;
  /** After the request. */
  atMs: number;
}

/** The steps from the request to the bot's first sound, in order. */
export function momentsOf({ coldStart, timeline }: Pick<SessionDetails, "coldStart" | "timeline">): Moment[] {
  const waitedMs = (timeline.queueMs ?? 0) + (timeline.placeMs ?? 0);
  const moments: Moment[] = [];
  if (waitedMs > 0) moments.push({ label: "An instance was reserved", atMs: waitedMs });
  if (coldStart && timeline.bootMs)
    moments.push({ label: "A new instance booted", atMs: waitedMs + timeline.bootMs });
  if (timeline.startMs === undefined) return moments;
  if (coldStart === false) moments.push({ label: "An instance was waiting", atMs: waitedMs });
  const takenMs = waitedMs + timeline.startMs;
  moments.push({ label: "The instance accepted the session", atMs: takenMs });
  // The instance counts from when it took the session.
  const marks = [
    { label: "The caller connected", ms: timeline.clientConnectedMs },
    { label: "The bot's code started", ms: timeline.botEnteredMs },
    { label: "The bot was first heard", ms: timeline.firstAudioMs },
  ];
  for (const { label, ms } of marks) if (ms !== undefined) moments.push({ label, atMs: takenMs + ms });
  return moments.sort((one, other) => one.atMs - other.atMs);
}
