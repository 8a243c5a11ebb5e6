import { availableParallelism, loadavg } from "node:os";

const HEADROOM = 3; // a quiet machine is not always the one that the time was chosen on
const LOAD_MAX = 4;
const LONGEST_MS = 180_000; // a longer wait only delays a failure

/** How long to wait for what takes this long at most on a quiet machine: a busy one gets as much longer as it is busier. */
export function patientMs(quietMs: number): number {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  const scaledMs = quietMs * HEADROOM * Math.min(Math.max(load, 1), LOAD_MAX);
  return Math.round(Math.min(scaledMs, Math.max(quietMs, LONGEST_MS)));
}
