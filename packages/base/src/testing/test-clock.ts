import type { Clock } from "../clock.ts";

/** A clock for tests: it stands still until it is set. */
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
