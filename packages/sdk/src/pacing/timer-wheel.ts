/** Timers of a thread that has many of them: they fire together, every few milliseconds, not each by itself. */
export interface TimerWheel {
  /** Early by a tenth of a step at most, late by less than one. Gives back a function that cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

export interface TimerWheelOptions {
  stepMs: number;
  /** @default performance.now */
  nowMs?: () => number;
  /** Gives back a function that cancels the timer. @default setTimeout */
  setTimer?: (callback: () => void, delayMs: number) => () => void;
}

/** A pace that is a multiple of the step stays exactly even. */
export function createTimerWheel(options: TimerWheelOptions): TimerWheel {
  const { stepMs } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const setTimer = options.setTimer ?? startTimeout;
  const startMs = nowMs();
  const waiting = new Map<number, Set<() => void>>(); // by the step they fire at
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

const EARLY = 0.1; // of a step: timers of the machine are that exact at best

function startTimeout(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
