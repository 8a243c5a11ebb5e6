/** Time as the simulator sees it, so that a test can bring its own. */
export interface Clock {
  /** Never goes back; says how long, not when. */
  nowMs(): number;
  /** Milliseconds since 1970, for carriers that put the time of day into their messages. */
  epochMs(): number;
  /** Gives back a function that cancels the timer. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochMs: () => Date.now(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until told to run: an hour of telephone in a millisecond of test. */
export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const startEpochMs = options.startEpochMs ?? 1_700_000_000_000;
  const latenessMs = options.latenessMs ?? (() => 0);
  const timers = new Set<Timer>();
  let now = 0;
  let order = 0;

  function nextTimer(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer;
    }
    return next;
  }

  return {
    nowMs: () => now,
    epochMs: () => startEpochMs + Math.floor(now),
    setTimer(callback, delayMs) {
      const dueMs = now + Math.max(0, delayMs);
      const timer = { atMs: dueMs + latenessMs(dueMs), order: order++, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    runFor(ms) {
      const endMs = now + ms;
      for (let next = nextTimer(); next && next.atMs <= endMs; next = nextTimer()) {
        timers.delete(next);
        now = Math.max(now, next.atMs);
        next.callback();
      }
      now = Math.max(now, endMs);
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

interface VirtualClockOptions {
  /** @default 1_700_000_000_000 */
  startEpochMs?: number;
  /** How late the timer that is due then comes. @default never */
  latenessMs?: (dueMs: number) => number;
}

export interface VirtualClock extends Clock {
  /** Lets time pass, with everything that is due in it. */
  runFor(ms: number): void;
  readonly pendingTimers: number;
}

interface Timer {
  atMs: number;
  order: number;
  callback: () => void;
}
