import type { Clock } from "../clock.ts";
import { ConfigError } from "../config.ts";
import { holderName, isHolderDead } from "../leader/holder.ts";
import { leaseHolder, renewLease, takeLease, type LeaseOptions } from "../leader/leader.ts";
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

/**
 * Waits until nobody else leads. A predecessor that died on this machine is recognised at once; one that goes on using
 * the same folder is a second service, which is a mistake. On Postgres it is a standby, which is none.
 */
export async function becomeLeader(options: {
  store: Store;
  clock: Clock;
  timing: Timing;
  log: Log;
  newestEpoch: LeaseOptions["newestEpoch"];
  dataFolder: string;
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
  const sinceMs = clock.monotonicMs();
  let waitsFor: string | undefined;
  let epoch = await takeLease(lease);
  while (epoch === undefined) {
    const holder = await leaseHolder(store);
    if (holder !== undefined && holder !== waitsFor)
      log.warn({ ...shownHolder(holder) }, "another controller leads, waiting for it to end");
    const isMistake = holder === waitsFor && clock.monotonicMs() - sinceMs > timing.sharedFolderMs;
    if (holder !== undefined && isMistake && store.dialect === "sqlite")
      throw inUse(options.dataFolder, shownHolder(holder));
    waitsFor = holder;
    await clock.sleep(LOOK_AGAIN_MS);
    epoch = await takeLease(lease);
  }
  log.info({ epoch }, "leading");
  return { epoch, keep: (signal) => keepLease(lease, epoch, { clock, timing, log, signal }) };
}

function shownHolder(holder: string): { host: string; pid: number } {
  const [host = "", pid] = holder.split("/");
  return { host, pid: Number(pid) };
}

function inUse(dataFolder: string, { host, pid }: { host: string; pid: number }): ConfigError {
  return new ConfigError(
    `${dataFolder} is in use by another Vocalhost service: process ${pid} on ${host}. ` +
      "Use that one, stop it, or choose another folder: VOCALHOST_DATA_DIR",
  );
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
