import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import type { Timing } from "@vocalhost/base/timing";
import { renewLease, type LeaseOptions } from "./leader.ts";

/** Renews until the signal aborts; resolves early when another controller has taken over. */
export async function keepLease(
  lease: LeaseOptions,
  epoch: number,
  { clock, timing, log, signal }: { clock: Clock; timing: Timing; log: Log; signal: AbortSignal },
): Promise<"lost" | "ended"> {
  while (!signal.aborted) {
    await clock.sleep(timing.leaseRenewMs, signal);
    if (signal.aborted) break;
    try {
      if (!(await renewLease(lease, epoch))) return "lost";
    } catch (error) {
      // No one can take over through a store that does not answer; every write of ours checks the epoch anyway.
      log.warn({ err: error }, "lease could not be renewed");
    }
  }
  return "ended";
}
