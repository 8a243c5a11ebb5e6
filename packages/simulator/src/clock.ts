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
