/** A clock that the test moves, and whose timers are late as configured. */
export interface ManualClock {
  nowMs(): number;
  /** Returns a function that cancels the timer. */
  setTimer(callback: () => void, delayMs: number): () => void;
  runUntil(endMs: number): void;
  readonly pending: number;
}

export function createManualClock(options: { latenessMs?: (dueMs: number) => number } = {}): ManualClock {
  const latenessMs = options.latenessMs ?? (() => 0);
  let now = 0;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  return {
    nowMs: () => now,
    setTimer(callback, delayMs) {
      const timer = { atMs: now + delayMs + latenessMs(now + delayMs), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    runUntil(endMs) {
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (!next || next.atMs > endMs) break;
        timers.delete(next);
        now = next.atMs;
        next.callback();
      }
      now = endMs;
    },
    get pending() {
      return timers.size;
    },
  };
}
