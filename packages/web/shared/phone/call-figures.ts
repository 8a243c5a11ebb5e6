import type { CallEvent, Violation } from "@vocalhost/simulator";

/** The state of a running call. Times count from dialling. */
export interface CallFigures {
  connectMs: number | undefined;
  /** The first sound of the bot. */
  firstAudioMs: number | undefined;
  /** When everything the bot has sent will have been played. */
  playsUntilMs: number;
  largestLeadMs: number;
  lateChunks: number;
  largestGapMs: number;
  marksReceived: number;
  marksReached: number;
  clears: number;
  bytesIn: number;
  bytesOut: number;
  keys: string;
  violations: (Violation & { count: number })[];
}

/** The figures of one moment. */
export interface ShownFigures extends CallFigures {
  /** How much sound of the bot waits to be played. */
  leadMs: number;
  /** How late this page's own timers were, at worst. */
  ownLagMs: number;
}

export const emptyFigures: CallFigures = {
  connectMs: undefined,
  firstAudioMs: undefined,
  playsUntilMs: 0,
  largestLeadMs: 0,
  lateChunks: 0,
  largestGapMs: 0,
  marksReceived: 0,
  marksReached: 0,
  clears: 0,
  bytesIn: 0,
  bytesOut: 0,
  keys: "",
  violations: [],
};

const STUTTER_MS = 500; // a longer gap is a pause between sentences, not a stutter
const VIOLATIONS_MAX = 50;
const KEYS_MAX = 64;

export function nextFigures(figures: CallFigures, event: CallEvent, sampleRateHz: number): CallFigures {
  switch (event.type) {
    case "call-connected":
      return { ...figures, connectMs: event.atMs };
    case "bot-speech-start":
      return { ...figures, firstAudioMs: figures.firstAudioMs ?? event.atMs };
    case "audio-queued":
      return queue(figures, event, (event.samples.length * 1000) / sampleRateHz);
    case "audio-cleared":
      return {
        ...figures,
        clears: figures.clears + 1,
        playsUntilMs: Math.min(figures.playsUntilMs, event.atMs),
      };
    case "mark-received":
      return { ...figures, marksReceived: figures.marksReceived + 1 };
    case "mark-reached":
      return { ...figures, marksReached: figures.marksReached + 1 };
    case "digit-pressed":
      return { ...figures, keys: (figures.keys + event.digit).slice(-KEYS_MAX) };
    case "message-sent":
      return { ...figures, bytesOut: figures.bytesOut + event.text.length }; // JSON of base64: one byte each
    case "message-received":
      return { ...figures, bytesIn: figures.bytesIn + event.text.length };
    case "violation-found":
      return { ...figures, violations: count(figures.violations, event.violation) };
    default:
      return figures;
  }
}

export function leadMs(figures: CallFigures, sinceDiallingMs: number): number {
  return Math.max(0, figures.playsUntilMs - sinceDiallingMs);
}

function queue(
  figures: CallFigures,
  { atMs, playsAtMs }: { atMs: number; playsAtMs: number },
  lengthMs: number,
): CallFigures {
  const playsUntilMs = playsAtMs + lengthMs;
  const gapMs = figures.playsUntilMs > 0 ? Math.max(0, playsAtMs - figures.playsUntilMs) : 0;
  const isLate = gapMs > ROUNDING_MS && gapMs <= STUTTER_MS;
  return {
    ...figures,
    playsUntilMs,
    largestLeadMs: Math.max(figures.largestLeadMs, playsUntilMs - atMs),
    lateChunks: figures.lateChunks + (isLate ? 1 : 0),
    largestGapMs: isLate ? Math.max(figures.largestGapMs, gapMs) : figures.largestGapMs,
  };
}

const ROUNDING_MS = 5; // the two times of one event are read a moment apart

function count(violations: CallFigures["violations"], found: Violation): CallFigures["violations"] {
  const isSame = (known: Violation) => known.code === found.code && known.detail === found.detail;
  if (violations.some(isSame)) {
    return violations.map((known) => (isSame(known) ? { ...known, count: known.count + 1 } : known));
  }
  return violations.length < VIOLATIONS_MAX ? [...violations, { ...found, count: 1 }] : violations;
}
