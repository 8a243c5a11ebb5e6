/**
 * The time as an argument, so that tests can set it. Wall-clock time dates events; monotonic time measures durations.
 */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Resolves when the time has passed or the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
