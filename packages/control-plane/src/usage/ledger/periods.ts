/** A UTC month, half-open: `2026-11`. */
export type Period = string;

/** A month is closed this long after its end, so that its last calls are over. */
export const CLOSE_AFTER_MS = 6 * 3_600_000;

export const DAY_MS = 86_400_000;

const PERIOD = /^(\d{4})-(0[1-9]|1[0-2])$/;

export function periodOf(atMs: number): Period {
  return new Date(atMs).toISOString().slice(0, 7);
}

export function isPeriod(text: string): boolean {
  return PERIOD.test(text);
}

export function periodStartMs(period: Period): number {
  return Date.UTC(yearOf(period), monthIndexOf(period));
}

/** First millisecond that no longer belongs to it. */
export function periodEndMs(period: Period): number {
  return Date.UTC(yearOf(period), monthIndexOf(period) + 1);
}

export function periodBefore(period: Period): Period {
  return periodOf(periodStartMs(period) - 1);
}

export function mayClose(period: Period, nowMs: number): boolean {
  return nowMs >= periodEndMs(period) + CLOSE_AFTER_MS;
}

export interface Piece {
  period: Period;
  seconds: number;
}

/** Cuts whole seconds at the ends of months; the pieces sum to the whole, and none is empty. */
export function splitAtPeriods({ fromMs, seconds }: { fromMs: number; seconds: number }): Piece[] {
  const pieces: Piece[] = [];
  let period = periodOf(fromMs);
  let before = 0;
  while (before < seconds) {
    const until = Math.min(seconds, Math.floor((periodEndMs(period) - fromMs) / 1_000));
    if (until > before) pieces.push({ period, seconds: until - before });
    before = until;
    period = periodOf(periodEndMs(period));
  }
  return pieces;
}

function yearOf(period: Period): number {
  return Number(period.slice(0, 4));
}

function monthIndexOf(period: Period): number {
  return Number(period.slice(5, 7)) - 1;
}
