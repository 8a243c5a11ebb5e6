import type { Violation } from "./carriers/bot-message.ts";

/** Counters of a running call. */
export interface CallTally {
  connectMs: number | undefined;
  firstMediaMs: number | undefined;
  messagesIn: number;
  messagesOut: number;
  bytesIn: number;
  bytesOut: number;
  chunksIn: number;
  chunksOut: number;
  chunksLost: number;
  receivedMs: number;
  clearedMs: number;
  /** Queued when the call ended. */
  cutOffMs: number;
  largestLeadMs: number;
  earlyChunks: number;
  lateChunks: number;
  largestGapMs: number;
  /** How late this machine's own timers were, at worst. */
  largestLagMs: number;
  marksReceived: number;
  marksReached: number;
  marksReturned: number;
  /** When, since the stream began. */
  clearsMs: number[];
  digits: string;
  violations: CountedViolation[];
}

export interface CountedViolation extends Violation {
  count: number;
  /** Since dialling. */
  firstMs: number;
}

export function createTally(): CallTally {
  return {
    connectMs: undefined,
    firstMediaMs: undefined,
    messagesIn: 0,
    messagesOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    chunksIn: 0,
    chunksOut: 0,
    chunksLost: 0,
    receivedMs: 0,
    clearedMs: 0,
    cutOffMs: 0,
    largestLeadMs: 0,
    earlyChunks: 0,
    lateChunks: 0,
    largestGapMs: 0,
    largestLagMs: 0,
    marksReceived: 0,
    marksReached: 0,
    marksReturned: 0,
    clearsMs: [],
    digits: "",
    violations: [],
  };
}

/** One more chunk of the bot: was it late, was it far ahead? */
export function countChunk(
  tally: CallTally,
  chunk: { lengthMs: number; gapMs: number; leadMs: number },
): void {
  tally.chunksIn += 1;
  tally.receivedMs += chunk.lengthMs;
  tally.largestLeadMs = Math.max(tally.largestLeadMs, chunk.leadMs);
  if (chunk.leadMs - chunk.lengthMs > EARLY_MS) tally.earlyChunks += 1;
  if (chunk.gapMs <= 0 || chunk.gapMs > STUTTER_MS) return;
  tally.lateChunks += 1;
  tally.largestGapMs = Math.max(tally.largestGapMs, chunk.gapMs);
}

export function countViolation(tally: CallTally, violation: Violation, atMs: number): void {
  const same = tally.violations.find(
    (known) => known.code === violation.code && known.detail === violation.detail,
  );
  if (same) same.count += 1;
  else if (tally.violations.length < MAX_VIOLATIONS)
    tally.violations.push({ ...violation, count: 1, firstMs: atMs });
  else tally.violations.at(-1)!.count += 1;
}

const EARLY_MS = 250; // more waiting audio than this makes interruptions sluggish
const STUTTER_MS = 500; // a longer gap is a pause between sentences, not a stutter
const MAX_VIOLATIONS = 50; // different ones; more would make the summary unreadable
