import { samplesIn } from "@vocalhost/audio";
import { createTimeline, type Timeline } from "./timeline.ts";

/**
 * The carrier's queue: what the bot sends plays one after the other in real time, and its marks are
 * reached when everything before them has been played. Times are milliseconds since the stream began.
 */
export function createPlayback(options: PlaybackOptions): Playback {
  const { sampleRateHz } = options;
  const delaySamples = samplesIn(options.delayMs ?? PLAYBACK_DELAY_MS, sampleRateHz);
  const heard = createTimeline({ maxSamples: samplesIn(options.maxMs, sampleRateHz) });
  const marks: { name: string; at: number }[] = [];
  let end = 0; // where the queue ends; before now when it has run dry
  const toMs = (samples: number): number => (samples * 1000) / sampleRateHz;
  const position = (ms: number): number => Math.floor((ms * sampleRateHz) / 1000);

  return {
    heard,
    play(samples, nowMs) {
      const now = position(nowMs);
      const isDry = end <= now;
      const start = isDry ? now + delaySamples : end;
      const gapMs = isDry && end > 0 ? toMs(start - end) : 0;
      heard.write(start, samples);
      end = start + samples.length;
      return { gapMs, leadMs: toMs(end - now) };
    },
    mark(name, nowMs) {
      if (marks.length >= MAX_MARKS) return false;
      marks.push({ name, at: Math.max(end, position(nowMs)) });
      return true;
    },
    takeReached(nowMs) {
      // A timer may come a fraction of a sample early.
      const waiting = marks.findIndex((mark) => toMs(mark.at) > nowMs + TIMER_SLACK_MS);
      return marks.splice(0, waiting === -1 ? marks.length : waiting).map((mark) => mark.name);
    },
    clear(nowMs) {
      const now = position(nowMs);
      const droppedMs = Math.max(0, toMs(end - now));
      heard.cut(now);
      end = Math.min(end, now);
      return { droppedMs, marks: marks.splice(0).map((mark) => mark.name) };
    },
    get nextMarkMs() {
      return marks[0] && toMs(marks[0].at);
    },
    get endMs() {
      return toMs(end);
    },
    get waitingMarks() {
      return marks.length;
    },
  };
}

export interface PlaybackOptions {
  sampleRateHz: number;
  /** Longest call; what would play later is never heard. */
  maxMs: number;
  /** How long the first audio after a pause waits. @default 20 */
  delayMs?: number;
}

export interface Playback {
  readonly heard: Timeline;
  /** Says how long nothing played before this, and how much is queued now. */
  play(samples: Int16Array, nowMs: number): { gapMs: number; leadMs: number };
  /** False when too many marks wait. */
  mark(name: string, nowMs: number): boolean;
  /** Names of the marks that have been reached since the last time, in order. */
  takeReached(nowMs: number): string[];
  /** Stops at once; gives back what will not be played and the marks that waited for it. */
  clear(nowMs: number): { droppedMs: number; marks: string[] };
  readonly nextMarkMs: number | undefined;
  readonly endMs: number;
  readonly waitingMarks: number;
}

/** Telephone networks hold back one packet, so that unevenness of a few milliseconds is not heard. */
export const PLAYBACK_DELAY_MS = 20;
const MAX_MARKS = 1000; // a bot that marks every chunk is 20 s ahead then
const TIMER_SLACK_MS = 0.5;
