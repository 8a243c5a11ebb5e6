import type { ConnectionEvent } from "../events/connection-event.ts";

/** How fast the bot answers, over the last turns. */
export interface ResponseLatency {
  /** From the end of the user's turn, as the bot saw it, to the bot starting to speak. */
  answered: number[];
  /** From the last sound of the user to the first sound of the bot, both as heard on this page. */
  voiceToVoice: number[];
  /** Where on the page's clock the silences between the voices lie, newest last. */
  gaps: { fromMs: number; toMs: number }[];
  waiting: { sinceMs: number; answered: boolean; heard: boolean } | undefined;
  quietSinceMs: number | undefined;
}

export const emptyLatency: ResponseLatency = {
  answered: [],
  voiceToVoice: [],
  gaps: [],
  waiting: undefined,
  quietSinceMs: undefined,
};

const SAMPLES_MAX = 200;
const ANSWER_MAX_MS = 30_000; // later than this it is not an answer to that turn

export function nextLatency(latency: ResponseLatency, event: ConnectionEvent): ResponseLatency {
  switch (event.type) {
    case "session-requested":
      return emptyLatency;
    case "user-quiet":
      return { ...latency, quietSinceMs: event.atMs };
    case "bot-heard":
      return hear(latency, event.atMs);
    case "message-sent":
      return event.message.type === "send-text"
        ? { ...latency, waiting: waitFrom(event.atMs), quietSinceMs: undefined }
        : latency;
    case "speech-start":
      return event.who === "user" ? interrupt(latency) : answer(latency, event.atMs);
    case "speech-end":
      return event.who === "user" ? fallQuiet(latency, event.atMs) : latency;
    case "message-received":
      break;
    default:
      return latency;
  }
  switch (event.message.type) {
    case "user-started-speaking":
      return interrupt(latency);
    case "user-stopped-speaking":
      return { ...latency, waiting: waitFrom(event.atMs) };
    case "bot-started-speaking":
      return answer(latency, event.atMs);
    default:
      return latency;
  }
}

export function median(values: number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return undefined;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The user goes on, so there is nothing to answer yet. */
function interrupt(latency: ResponseLatency): ResponseLatency {
  return { ...latency, waiting: undefined, quietSinceMs: undefined };
}

/** On the telephone the page's own ear may have missed a short last sound. */
function fallQuiet(latency: ResponseLatency, atMs: number): ResponseLatency {
  return { ...latency, waiting: waitFrom(atMs), quietSinceMs: latency.quietSinceMs ?? atMs };
}

function answer(latency: ResponseLatency, atMs: number): ResponseLatency {
  const { waiting } = latency;
  if (!waiting || waiting.answered || atMs - waiting.sinceMs > ANSWER_MAX_MS) return latency;
  return {
    ...latency,
    answered: keep(latency.answered, atMs - waiting.sinceMs),
    waiting: { ...waiting, answered: true },
  };
}

function hear(latency: ResponseLatency, atMs: number): ResponseLatency {
  const { waiting, quietSinceMs } = latency;
  if (!waiting || waiting.heard || atMs - waiting.sinceMs > ANSWER_MAX_MS) return latency;
  const heard = { ...latency, waiting: { ...waiting, heard: true } };
  if (quietSinceMs === undefined) return heard;
  return {
    ...heard,
    voiceToVoice: keep(latency.voiceToVoice, atMs - quietSinceMs),
    gaps: keep(latency.gaps, { fromMs: quietSinceMs, toMs: atMs }),
  };
}

function waitFrom(sinceMs: number) {
  return { sinceMs, answered: false, heard: false };
}

function keep<T>(values: T[], value: T): T[] {
  return [...values, value].slice(-SAMPLES_MAX);
}
