/** A moment as callers read it. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
