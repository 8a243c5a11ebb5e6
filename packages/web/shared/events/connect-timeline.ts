import { connectSteps, type ConnectionEvent, type ConnectStep } from "./connection-event.ts";

/** How long each step of the last connection attempt took. */
export interface ConnectTimeline {
  steps: { step: ConnectStep; durationMs: number }[];
  /** From pressing the button to the bot being ready. */
  totalMs: number | undefined;
  /** From pressing the button to the first sound of the bot. */
  firstSoundMs: number | undefined;
  startedMs: number;
  open: { step: ConnectStep; sinceMs: number } | undefined;
}

export const emptyTimeline: ConnectTimeline = {
  steps: [],
  totalMs: undefined,
  firstSoundMs: undefined,
  startedMs: 0,
  open: undefined,
};

export function nextTimeline(timeline: ConnectTimeline, event: ConnectionEvent): ConnectTimeline {
  switch (event.type) {
    case "session-requested": {
      const step = event.microphone ? "microphone" : "start";
      return {
        ...emptyTimeline,
        startedMs: event.atMs,
        open: { step, sinceMs: event.atMs },
      };
    }
    case "step-reached":
      return timeline.open
        ? { ...closeStep(timeline, event.atMs), open: { step: event.step, sinceMs: event.atMs } }
        : timeline;
    case "bot-ready":
    case "call-connected":
      return timeline.open
        ? { ...closeStep(timeline, event.atMs), totalMs: event.atMs - timeline.startedMs }
        : timeline;
    case "bot-heard":
      return timeline.firstSoundMs === undefined
        ? { ...timeline, firstSoundMs: event.atMs - timeline.startedMs }
        : timeline;
    case "session-ended":
    case "session-failed":
      return timeline.open ? { ...closeStep(timeline, event.atMs) } : timeline;
    default:
      return timeline;
  }
}

/** Share of the steps that lie behind, 0 to 1. */
export function progressOf(step: ConnectStep): number {
  return (connectSteps.indexOf(step) + 0.5) / connectSteps.length;
}

function closeStep(timeline: ConnectTimeline, atMs: number): ConnectTimeline {
  const { open } = timeline;
  if (!open) return timeline;
  const step = { step: open.step, durationMs: atMs - open.sinceMs };
  return { ...timeline, steps: [...timeline.steps, step], open: undefined };
}
