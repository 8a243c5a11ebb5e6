/** Lets so many through in a second, a second's worth at once at most. */
export interface RateLimit {
  /** False when there are too many. */
  take(): boolean;
}

export function createRateLimit(perSecond: number, now: () => number = () => performance.now()): RateLimit {
  let left = perSecond;
  let filledMs = now();
  return {
    take() {
      const nowMs = now();
      left = Math.min(perSecond, left + ((nowMs - filledMs) * perSecond) / 1000);
      filledMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
