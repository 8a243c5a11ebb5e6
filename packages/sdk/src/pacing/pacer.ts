/** Calls `tick` at an even pace that does not drift, however late single timers are. */
export function createPacer(options: PacerOptions): Pacer {
  const { intervalMs, tick } = options;
  const maxLagMs = options.maxLagMs ?? 200;
  const nowMs = options.nowMs ?? (() => performance.now());
  const setTimer = options.setTimer ?? startTimeout;
  const onError = options.onError ?? warn;
  const random = options.random ?? Math.random;
  let cancelTimer: (() => void) | undefined;
  let dueMs = 0;

  function schedule(): void {
    cancelTimer = setTimer(onTimer, Math.max(0, dueMs - nowMs()));
  }

  function onTimer(): void {
    const lagMs = nowMs() - dueMs;
    // A burst after a long stall would be heard as a skip, so the lost time is not caught up.
    dueMs = lagMs > maxLagMs ? nowMs() + intervalMs : dueMs + intervalMs;
    schedule(); // before the tick, which may throw or call stop()
    try {
      tick();
    } catch (error) {
      onError(error);
    }
  }

  return {
    start() {
      if (cancelTimer) return;
      const phaseMs = options.randomPhase ? random() * intervalMs : 0;
      dueMs = nowMs() + phaseMs;
      schedule();
    },
    stop() {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}

export interface PacerOptions {
  intervalMs: number;
  tick: () => void;
  /** Beyond this lag the schedule starts over instead of catching up, in milliseconds. @default 200 */
  maxLagMs?: number;
  /** Whether to begin at a random point of the interval, so that many pacers do not tick at once. @default false */
  randomPhase?: boolean;
  /** Receives exceptions of `tick`; ticking continues. @default a process warning */
  onError?: (error: unknown) => void;
  /** @default performance.now */
  nowMs?: () => number;
  /** Returns a function that cancels the timer. @default setTimeout */
  setTimer?: (callback: () => void, delayMs: number) => () => void;
  /** Returns a number from 0 to 1. @default Math.random */
  random?: () => number;
}

export interface Pacer {
  /** Starts ticking, at once or after the random phase. Does nothing when already started. */
  start(): void;
  stop(): void;
}

function startTimeout(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
