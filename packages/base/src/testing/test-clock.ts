import type { Clock } from "../clock.ts";

/** A clock for tests; its time changes only when a test sets it. */
export interface TestClock extends Clock {
  now: number;
  monotonic: number;
}

export function createTestClock(now = 1_000_000): TestClock {
  return {
    now,
    monotonic: 0,
    nowMs() {
      return this.now;
    },
    monotonicMs() {
      return this.monotonic;
    },
    sleep: () => Promise.resolve(),
  };
}
