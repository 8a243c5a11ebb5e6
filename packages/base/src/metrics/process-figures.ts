import { monitorEventLoopDelay } from "node:perf_hooks";
import { z } from "zod";

/** Figures of one process of the service. */
export const ProcessFigures = z.object({
  /** How often the supervisor has restarted the process. */
  restarts: z.number(),
  residentBytes: z.number(),
  heapBytes: z.number(),
  cpuSeconds: z.number(),
  /** How late timers fired since the previous report. */
  lagSeconds: z.object({ p50: z.number(), p99: z.number(), max: z.number() }),
});
export type ProcessFigures = z.infer<typeof ProcessFigures>;

export interface SamplerOptions {
  restarts: number;
  sampled(figures: ProcessFigures): void;
}

const SAMPLE_MS = 5_000;
const RESOLUTION_MS = 50; // each tick wakes the process: at 10 ms this was most of an idle gateway's CPU

/** Reports the figures of this process immediately, then every few seconds. */
export function sampleProcess({ restarts, sampled }: SamplerOptions): Disposable {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();

  function sample(): void {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const lagSeconds = {
      p50: toSeconds(delay.percentile(50)),
      p99: toSeconds(delay.percentile(99)),
      max: toSeconds(delay.max),
    };
    delay.reset();
    const cpuSeconds = (user + system) / 1_000_000;
    sampled({ restarts, residentBytes: rss, heapBytes: heapUsed, cpuSeconds, lagSeconds });
  }

  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  timer.unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}

// The histogram holds the time between two ticks, so the interval itself is subtracted.
function toSeconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1_000);
}
