import type { Clock } from "@vocalhost/base/clock";
import { ConfigError } from "@vocalhost/base/config-error";
import { holderName, isHolderDead } from "@vocalhost/store/leadership/holder";
import { keepLease } from "@vocalhost/store/leadership/keep-lease";
import { lookAtLease, releaseLease, takeLease, type LeaseOptions } from "@vocalhost/store/leadership/leader";
import type { Log } from "@vocalhost/base/log";
import type { Store } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";

/** The leadership this controller holds, and its epoch. */
export interface Leadership {
  epoch: number;
  /** Renews the lease until the signal aborts; resolves early when another controller has taken over. */
  keep(signal: AbortSignal): Promise<"lost" | "ended">;
  /** Releases the lease, so that a standby can lead immediately. */
  giveUp(): Promise<void>;
}

/** The lease for which controllers compete. */
export interface Lease {
  /** Takes the lease unless another controller holds it. */
  take(): Promise<Leadership | undefined>;
  /**
   * Waits for the lease. A predecessor that died on this machine is detected immediately. On SQLite, another live
   * user of the folder is a second service, which is an error; on Postgres it is a leader to stand by for. Returns
   * undefined if the signal aborts first.
   */
  wait(signal?: AbortSignal): Promise<Leadership | undefined>;
}

export interface LeadOptions {
  store: Store;
  clock: Clock;
  timing: Timing;
  log: Log;
  newestEpoch: LeaseOptions["newestEpoch"];
  dataFolder: string;
}

const LOOK_AGAIN_MS = 200;

export function openLease(options: LeadOptions): Lease {
  const { store, clock, timing, log, newestEpoch } = options;
  const lease: LeaseOptions = {
    store,
    clock,
    timing,
    holder: holderName(),
    isDead: isHolderDead,
    newestEpoch,
  };

  async function take(): Promise<Leadership | undefined> {
    const epoch = await takeLease(lease);
    if (epoch === undefined) return undefined;
    log.info({ epoch }, "leading");
    return {
      epoch,
      keep: (signal) => keepLease(lease, epoch, { clock, timing, log, signal }),
      giveUp: () => releaseLease(lease, epoch),
    };
  }

  return {
    take,
    async wait(signal) {
      const sinceMs = clock.monotonicMs();
      let waitsFor: string | undefined;
      let isAway = false;
      let backSinceMs: number | undefined;
      while (!signal?.aborted) {
        try {
          const { holder, isFree } = await lookAtLease(lease);
          if (isAway) backSinceMs = clock.monotonicMs();
          isAway = false;
          // No leader could renew while the store was unreachable. A live one gets a full lease to do so.
          const mayRenew = backSinceMs !== undefined && clock.monotonicMs() - backSinceMs < timing.leaseMs;
          const isSpared = mayRenew && holder !== undefined && !isHolderDead(holder);
          const leadership = isFree && !isSpared ? await take() : undefined;
          if (leadership) return leadership;
          if (holder !== undefined && holder !== waitsFor)
            log.warn({ ...shownHolder(holder) }, "another controller leads, waiting for it to end");
          const isMistake = holder === waitsFor && clock.monotonicMs() - sinceMs > timing.sharedFolderMs;
          if (holder !== undefined && isMistake && store.dialect === "sqlite")
            throw inUse(options.dataFolder, shownHolder(holder));
          waitsFor = holder;
        } catch (error) {
          if (!signal || error instanceof ConfigError) throw error;
          isAway = true; // a standby outlives that
          log.warn({ err: error }, "could not look who leads");
        }
        await clock.sleep(LOOK_AGAIN_MS, signal);
      }
      return undefined;
    },
  };
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
