import { json, type Settings } from "@vocalhost/protocol";
import { z } from "zod";

/** Every duration the service decides by. Configuration, so that tests can compress time. */
export interface Timing {
  heartbeatMs: number;
  /** An instance that missed this many heartbeats is frozen, and killed. */
  heartbeatsMissed: number;
  /** An idle instance without a controller ends itself. */
  instanceAloneMs: number;
  startWarmMs: number;
  startColdMs: number;
  connectDeadlineMs: number;
  stopGraceMs: number;
  deadlineGraceMs: number;
  idleInstanceMs: number;
  /** A waiting instance is paused this long after it became ready, where that is asked for. */
  pauseAfterMs: number;
  /** Starts of this long say how many instances are kept in reserve. */
  demandMs: number;
  crashBackoffMs: readonly number[];
  crashResetMs: number;
  crashesToFail: number;
  leaseMs: number;
  leaseRenewMs: number;
  /** Another service that goes on using our folder this long is not about to end. */
  sharedFolderMs: number;
  idempotencyMs: number;
  socketTokenMs: number;
  reconcileMs: number;
  /** Waits before a process of the service that died is started again; the last one repeats. */
  restartMs: readonly number[];
  /** A process that lived this long begins with the first of them. */
  restartResetMs: number;
  /** Before a process that could run and now refuses to is started again. */
  refusedMs: number;
  /** A process of the service that was asked to end is killed after this long. */
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
  leaseMs: 3_500, // who stands by leads within 5 s, its first look at everything included
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
