/** Every duration the service decides by. Configuration, so that tests can compress time. */
export interface Timing {
  heartbeatMs: number;
  /** An instance is lost after this many heartbeats missed, if the driver agrees. */
  heartbeatsMissed: number;
  /** An idle instance without a controller ends itself. */
  instanceAloneMs: number;
  startWarmMs: number;
  startColdMs: number;
  connectDeadlineMs: number;
  stopGraceMs: number;
  deadlineGraceMs: number;
  idleInstanceMs: number;
  crashBackoffMs: readonly number[];
  crashResetMs: number;
  crashesToFail: number;
  leaseMs: number;
  leaseRenewMs: number;
  idempotencyMs: number;
  socketTokenMs: number;
  reconcileMs: number;
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
  crashBackoffMs: [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000],
  crashResetMs: 600_000,
  crashesToFail: 5,
  leaseMs: 10_000,
  leaseRenewMs: 3_000,
  idempotencyMs: 86_400_000,
  socketTokenMs: 300_000,
  reconcileMs: 1_000,
};
