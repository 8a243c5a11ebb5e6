/** Milliseconds since 1970 on a clock that never jumps. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
