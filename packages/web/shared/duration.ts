/** 83 s as "1:23". */
export function toClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const two = (value: number) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** "1.8 s", or "1:23" when it gets long. */
export function toSpan(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : toClock(ms);
}

/** "312 ms", or "1.25 s" from a second on. */
export function toDelay(ms: number | undefined): string {
  if (ms === undefined) return "–";
  if (ms < 0.5) return "< 1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
