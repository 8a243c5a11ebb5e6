import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

/**
 * A bound for somebody else's lateness: what it may be by itself, and what this machine does to
 * everybody. A busy machine delays the test as much as the runner.
 */
export function lateBy(ms: number): number {
  return ms + (3 * delay.max) / 1e6;
}
