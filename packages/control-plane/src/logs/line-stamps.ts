import type { Clock } from "@vocalhost/base/clock";

/** Gives each line its moment: never twice the same, never backwards, so that lines read at once keep their order. */
export type Stamps = () => { at: number; nanos: number };

const NANOS_PER_MS = 1_000_000;
const CLOCK_STEP_MAX_MS = 60_000;

/** `newestAt`: of the lines already stored. A clock that was set back a little waits for them; more, and it is believed. */
export function createStamps(clock: Clock, newestAt: number): Stamps {
  let at = newestAt > clock.nowMs() + CLOCK_STEP_MAX_MS ? 0 : newestAt;
  let nanos = NANOS_PER_MS - 1;
  return () => {
    const nowMs = Math.floor(clock.nowMs());
    nanos += 1;
    if (nowMs > at || nanos >= NANOS_PER_MS) {
      at = Math.max(nowMs, nanos >= NANOS_PER_MS ? at + 1 : 0);
      nanos = 0;
    }
    return { at, nanos };
  };
}
