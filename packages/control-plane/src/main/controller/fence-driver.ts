import { AppError } from "@vocalhost/protocol";
import { setTimeout as pause } from "node:timers/promises";
import { DriverUnavailableError, type Driver } from "@vocalhost/drivers/driver";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { Log } from "@vocalhost/base/log";
import type { Work } from "./background-work.ts";

const WAIT_MS = 2_000; // callers wait meanwhile; a local driver takes milliseconds
const AGAIN_MS = 1_000;

/**
 * Returns the newest epoch that instances know of, or 0 while the driver cannot be asked: then the store alone
 * decides who leads. If the store was restored from a backup, the fence refuses the epoch later, and the controller
 * leads again with a newer one.
 */
export async function newestEpochOf(driver: Pick<Driver, "newestEpoch">, log: Log): Promise<number> {
  return inTime(driver.newestEpoch()).catch((error: unknown) => {
    if (!(error instanceof DriverUnavailableError)) throw error;
    log.warn({ err: error }, "the newest epoch of instances is unknown, leading with the store's");
    return 0;
  });
}

export interface FencingOptions {
  driver: Pick<Driver, "fence">;
  epoch: number;
  log: Log;
  /** Called when instances can be created and ended. */
  fenced(): void;
}

/** Fences off the previous leader. If the driver is unavailable, returns a task that retries. */
export async function fenceDriver({ driver, epoch, log, fenced }: FencingOptions): Promise<Work | undefined> {
  const first = driver.fence(epoch);
  try {
    await inTime(first);
    return undefined;
  } catch (error) {
    if (!(error instanceof DriverUnavailableError)) throw error;
    log.error(
      { err: error },
      "the previous leader is not fenced off yet, no instance is made or ended until then",
    );
  }
  return {
    name: "fencing",
    async run(signal) {
      for (let trying = first; !signal.aborted; trying = driver.fence(epoch)) {
        try {
          await trying;
          log.info({ epoch }, "the previous leader is fenced off");
          return fenced();
        } catch (error) {
          if (error instanceof AppError && error.code === "EPOCH_STALE") throw new LeadershipLostError();
          await pause(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
        }
      }
    },
  };
}

async function inTime<T>(asked: Promise<T>): Promise<T> {
  const late = new AbortController();
  const tooLate = async (): Promise<never> => {
    await pause(WAIT_MS, undefined, { signal: late.signal });
    throw new DriverUnavailableError(`There was no answer within ${WAIT_MS / 1_000} s`);
  };
  try {
    return await Promise.race([asked, tooLate()]);
  } finally {
    late.abort();
  }
}
