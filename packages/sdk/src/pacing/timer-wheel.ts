/** Timers of a thread that has many: they fire together every few milliseconds. */
export interface TimerWheel {
  /**
   * Fires at most a tenth of a step early, and less than one step late. Returns a function that cancels the timer.
   */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export interface TimerWheelOptions {
  stepMs: number;
  /** @default performance.now */
  nowMs?: () => number;
  /** Returns a function that cancels the timer. @default setTimeout */
  setTimer?: (callback: () => void, delayMs: number) => () => void;
}

/** Intervals that are multiples of the step stay exactly even. */
export function createTimerWheel(options: TimerWheelOptions): TimerWheel {
  const { stepMs } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const setTimer = options.setTimer ?? startTimeout;
  const startMs = nowMs();
  const waiting = new Map<number, Set<() => void>>(); // keyed by the step at which they fire
  let turning: { to: number; cancel(): void } | undefined;

  function turn(): void {
    if (waiting.size === 0) return;
    const to = Math.min(...waiting.keys());
    if (turning && turning.to <= to) return;
    turning?.cancel();
    turning = { to, cancel: setTimer(arrive, Math.max(0, startMs + to * stepMs - nowMs())) };
  }

  function arrive(): void {
    turning = undefined;
    fire();
    turn();
  }

  function fire(): void {
    const reached = Math.floor((nowMs() - startMs) / stepMs + EARLY);
    const due = [...waiting.keys()].filter((step) => step <= reached).sort((left, right) => left - right);
    for (const step of due) {
      const callbacks = waiting.get(step) ?? [];
      waiting.delete(step);
      for (const callback of callbacks) callback();
    }
  }

  return {
    setTimer(callback, delayMs) {
      const step = Math.ceil((nowMs() + delayMs - startMs) / stepMs - EARLY);
      const callbacks = waiting.get(step) ?? new Set();
      const entry = (): void => callback(); // the same callback may wait twice
      waiting.set(step, callbacks.add(entry));
      turn();
      return () => {
        callbacks.delete(entry);
      };
    },
  };
}

const EARLY = 0.1; // of a step: the precision of system timers

function startTimeout(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
