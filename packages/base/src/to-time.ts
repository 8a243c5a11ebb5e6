const LAST_MS = Date.UTC(10_000, 0) - 1; // later times have a format that clients refuse

/** Returns an ISO timestamp. An odd value in the store must not fail a whole list, so it never throws. */
export function toTime(ms: number): string {
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LAST_MS)).toISOString();
}
