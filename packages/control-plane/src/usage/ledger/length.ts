// How long a session counts. Lengths come from monotonic clocks; the wall clock only says when a stop was asked for.
// The bot's process tells how long it ran, and what the controller saw bounds what it tells.

/** Everything that is known about a session when it is closed. */
export interface SessionFacts {
  /** Null: no instance was ever bound to it. */
  boundAt: number | null;
  /** From binding to the bot's acknowledgement. Null: it never became active. */
  startMs: number | null;
  /** How long the bot has run since its acknowledgement: up to its recorded exit, else to its last heartbeat. */
  elapsedMs: number | null;
  /** For a session whose elapsed time is unknown. */
  lastProofOfLifeAt: number | null;
  /** The length that the controller saw, from binding on; null where it could not be sure. */
  observed: { atLeastMs: number | null; atMostMs: number | null };
  stopRequestedAt: number | null;
  maxDurationMs: number;
}

/** A bot that needs longer to stop than this does so at our expense. */
export const BILLED_STOP_GRACE_MS = 5_000;

/** A process outlives its session, while it writes down that it ended; being seen proves no more than this. */
const LINGER_MS = 3_000;

/** A smaller difference is the latency between two clocks. */
const DIFFERENCE_MS = 1_000;

/** Returns the time from binding to the first of: exit or last proof of life, stop request and grace, longest duration. */
export function billedMs(facts: SessionFacts): number {
  const { boundAt, startMs } = facts;
  if (boundAt === null || startMs === null) return 0;
  const ends = [boundedMs(livedMs(facts, { boundAt, startMs }), facts), facts.maxDurationMs];
  if (facts.stopRequestedAt !== null) ends.push(facts.stopRequestedAt + BILLED_STOP_GRACE_MS - boundAt);
  // A wall clock set back must not give time back.
  return Math.max(0, Math.min(...ends));
}

export function billedSeconds(facts: SessionFacts): number {
  return Math.floor(billedMs(facts) / 1_000);
}

/** Returns by how much the observed length corrects the bot's; null when they agree. */
export function lengthCorrectionMs(facts: SessionFacts): number | null {
  const { boundAt, startMs } = facts;
  if (boundAt === null || startMs === null || facts.elapsedMs === null) return null;
  const toldMs = Math.min(livedMs(facts, { boundAt, startMs }), facts.maxDurationMs);
  const differenceMs = Math.min(boundedMs(toldMs, facts), facts.maxDurationMs) - toldMs;
  // A bot runs before its acknowledgement arrives. On a busy machine that is seconds, which are counted twice.
  const { atMostMs } = facts.observed;
  if (differenceMs < 0 && atMostMs !== null && facts.elapsedMs <= atMostMs) return null;
  return Math.abs(differenceMs) > DIFFERENCE_MS ? Math.round(differenceMs) : null;
}

function boundedMs(toldMs: number, { observed }: SessionFacts): number {
  const leastMs = (observed.atLeastMs ?? 0) - LINGER_MS;
  return Math.min(Math.max(toldMs, leastMs), observed.atMostMs ?? Infinity);
}

function livedMs(facts: SessionFacts, { boundAt, startMs }: { boundAt: number; startMs: number }): number {
  if (facts.elapsedMs !== null) return startMs + facts.elapsedMs;
  if (facts.lastProofOfLifeAt === null) return startMs;
  // The acknowledgement was a proof of life too.
  return Math.max(startMs, facts.lastProofOfLifeAt - boundAt);
}
