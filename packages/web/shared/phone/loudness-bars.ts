import { rmsLevel } from "@vocalhost/audio";
import { toLevel } from "../voice/loudness.ts";

/** How loud a recording is over its length, in so many steps; each from 0 to 1. */
export function toBars(samples: Int16Array, count: number): number[] {
  const step = samples.length / count;
  return Array.from({ length: count }, (_, bar) =>
    toLevel(rmsLevel(samples.subarray(Math.floor(bar * step), Math.floor((bar + 1) * step)))),
  );
}
