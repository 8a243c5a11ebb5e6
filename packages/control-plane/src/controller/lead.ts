import type { Clock } from "../clock.ts";
import { holderName, isHolderDead } from "../leader/holder.ts";
import { renewLease, takeLease, type LeaseOptions } from "../leader/leader.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";
import type { Timing } from "../timing.ts";

/** That we lead, and since when. */
export interface Leadership {
  epoch: number;
  /** Renews until the signal aborts; resolves early when another controller has taken over. */
  keep(signal: AbortSignal): Promise<"lost" | "ended">;
}

const LOOK_AGAIN_MS = 200;

/** Waits until nobody else leads. A predecessor that died on this machine is recognised at once. */
export async function becomeLeader(options: {
  store: Store;
  clock: Clock;
  timing: Timing;
  log: Log;
  newestEpoch: LeaseOptions["newestEpoch"];
}): Promise<Leadership> {
  const { store, clock, timing, log, newestEpoch } = options;
  const lease: LeaseOptions = {
    store,
    clock,
    timing,
    holder: holderName(),
    isDead: isHolderDead,
    newestEpoch,
  };
  let isTold = false;
  let epoch = await takeLease(lease);
  while (epoch === undefined) {
    if (!isTold) log.info({}, "another controller leads, waiting");
    isTold = true;
    await clock.sleep(LOOK_AGAIN_MS);
    epoch = await takeLease(lease);
  }
  log.info({ epoch }, "leading");
  return { epoch, keep: (signal) => keepLease(lease, epoch, { clock, timing, log, signal }) };
}

async function keepLease(
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
