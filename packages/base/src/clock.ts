/** Time, as an argument, so that tests can bend it. Wall clock says when, never how long. */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Resolves when the time has passed or the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
