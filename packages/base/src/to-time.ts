const LAST_MS = Date.UTC(10_000, 0) - 1; // later ones are written in a form that callers refuse

/** A moment as callers read it. One odd figure in the store must not cost them a whole list: none is refused. */
export function toTime(ms: number): string {
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LAST_MS)).toISOString();
}
