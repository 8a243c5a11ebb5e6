import { json, type Settings } from "@vocalhost/protocol";
import { z } from "zod";

/** Every interval and timeout of the service. Tests shorten them. */
export interface Timing {
  heartbeatMs: number;
  /** An instance that misses this many heartbeats counts as frozen and is killed. */
  heartbeatsMissed: number;
  /** An idle instance exits after this long without a controller. */
  instanceAloneMs: number;
  startWarmMs: number;
  startColdMs: number;
  connectDeadlineMs: number;
  stopGraceMs: number;
  deadlineGraceMs: number;
  idleInstanceMs: number;
  /** An idle instance is paused this long after it became ready, if the pool pauses instances. */
  pauseAfterMs: number;
  /** The starts of this period decide how many instances are kept in reserve. */
  demandMs: number;
  crashBackoffMs: readonly number[];
  crashResetMs: number;
  crashesToFail: number;
  leaseMs: number;
  leaseRenewMs: number;
  /** Startup fails if another service still uses our folder after this long. */
  sharedFolderMs: number;
  idempotencyMs: number;
  socketTokenMs: number;
  reconcileMs: number;
  /** Backoff before a process of the service that exited is restarted; the last value repeats. */
  restartMs: readonly number[];
  /** The backoff starts over for a process that ran this long. */
  restartResetMs: number;
  /** Delay before restarting a process that once ran and now refuses its settings. */
  refusedMs: number;
  /** A process of the service that was asked to exit is killed after this long. */
  endMs: number;
}

export const defaultTiming: Timing = {
  heartbeatMs: 5_000,
  heartbeatsMissed: 3,
  instanceAloneMs: 120_000,
  startWarmMs: 10_000,
  startColdMs: 60_000,
  connectDeadlineMs: 120_000,
  stopGraceMs: 5_000,
  deadlineGraceMs: 10_000,
  idleInstanceMs: 300_000,
  pauseAfterMs: 5_000,
  demandMs: 30_000,
  crashBackoffMs: [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000],
  crashResetMs: 600_000,
  crashesToFail: 5,
  leaseMs: 3_500, // a standby leads within 5 s, its first reconcile included
  leaseRenewMs: 1_000,
  sharedFolderMs: 20_000,
  idempotencyMs: 86_400_000,
  socketTokenMs: 300_000,
  reconcileMs: 1_000,
  restartMs: [50, 200, 1_000, 2_000, 5_000], // quick at first: calls and clients wait
  restartResetMs: 30_000,
  refusedMs: 60_000,
  endMs: 9_000,
};

const wanted = z.record(z.string(), z.union([z.number(), z.array(z.number())]));

export const timingSettings = {
  timing: {
    name: "VOCALHOST_TIMING",
    schema: json(wanted, '{"heartbeatMs":5000}')
      .superRefine((durations, context) => {
        const unknown = Object.keys(durations).find((name) => !Object.hasOwn(defaultTiming, name));
        if (unknown !== undefined) context.addIssue(`has no duration "${unknown}"`);
      })
      .transform((durations): Timing => ({ ...defaultTiming, ...durations }))
      .default(defaultTiming),
    preset: "",
    help: "JSON with any duration of `timing.ts` in milliseconds, for tests",
  },
} as const satisfies Settings;
