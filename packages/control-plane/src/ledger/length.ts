// How long a session counts. Lengths come from monotonic clocks; the wall clock only says when a stop was asked for.

/** What is known about a session when it is closed. */
export interface SessionFacts {
  /** Null: no instance was ever bound to it. */
  boundAt: number | null;
  /** From binding to the bot's acknowledgement. Null: it never became active. */
  startMs: number | null;
  /** Of the bot since its acknowledgement: at its recorded exit, else at the last heartbeat that told. */
  elapsedMs: number | null;
  /** For a session whose elapsed time nobody knows. */
  lastProofOfLifeAt: number | null;
  stopRequestedAt: number | null;
  maxDurationMs: number;
}

/** A bot that needs longer to stop than this does so at our expense. */
export const BILLED_STOP_GRACE_MS = 5_000;

/** From binding to the first of: exit or last proof of life, stop request and grace, longest duration. */
export function billedMs(facts: SessionFacts): number {
  const { boundAt, startMs } = facts;
  if (boundAt === null || startMs === null) return 0;
  const ends = [livedMs(facts, { boundAt, startMs }), facts.maxDurationMs];
  if (facts.stopRequestedAt !== null) ends.push(facts.stopRequestedAt + BILLED_STOP_GRACE_MS - boundAt);
  // A wall clock set back must not give time back.
  return Math.max(0, Math.min(...ends));
}

export function billedSeconds(facts: SessionFacts): number {
  return Math.floor(billedMs(facts) / 1_000);
}

function livedMs(facts: SessionFacts, { boundAt, startMs }: { boundAt: number; startMs: number }): number {
  if (facts.elapsedMs !== null) return startMs + facts.elapsedMs;
  if (facts.lastProofOfLifeAt === null) return startMs;
  // The acknowledgement was a proof of life too.
  return Math.max(startMs, facts.lastProofOfLifeAt - boundAt);
}
