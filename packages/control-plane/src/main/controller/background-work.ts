import type { Clock } from "@vocalhost/base/clock";
import type { Config } from "../config.ts";
import type { ObjectStore } from "../../builds/object-store/object-store.ts";
import type { Failpoint } from "@vocalhost/base/failpoints";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import { closePeriods } from "../../usage/ledger/close-periods.ts";
import { exportUsage } from "../../usage/ledger/export.ts";
import { createExportTeller } from "../../usage/ledger/export.ts";
import type { Log } from "@vocalhost/base/log";
import type { KeepImages } from "../../upkeep/retention/prune-images.ts";
import { prune } from "../../upkeep/retention/prune.ts";
import type { StoreIdentity } from "@vocalhost/store/identity";
import type { Store } from "@vocalhost/store/store";

/** A task that runs beside requests until the signal aborts. */
export interface Work {
  name: string;
  run(signal: AbortSignal): Promise<void>;
}

export interface BackgroundOptions {
  work: Work[];
  store: Store;
  identity: StoreIdentity;
  clock: Clock;
  log: Log;
  config: Config;
  keepImages: KeepImages;
  objectStore: ObjectStore | undefined;
  failpoint: Failpoint;
  signal: AbortSignal;
  /** Called when another controller has become the leader. */
  lost(): void;
}

const AGAIN_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Runs all tasks; logs and retries those that fail. Disposal waits until all have stopped. */
export function startBackgroundWork(options: BackgroundOptions): AsyncDisposable {
  const { store, clock, log, config, failpoint, signal } = options;
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const every = (name: string, ms: number, run: () => Promise<unknown>): Work => ({
    name,
    run: async (stop) => {
      while (!stop.aborted) {
        await run();
        await clock.sleep(ms, stop);
      }
    },
  });
  const sinceMs = clock.monotonicMs();
  const chores = [
    every("month close", MINUTE_MS, () => closePeriods(store, { nowMs: clock.nowMs(), failpoint })),
    every("pruning", HOUR_MS, () =>
      prune(store, {
        ...toPruneOptions(config, clock.nowMs(), log),
        identity: options.identity,
        removesFiles: clock.monotonicMs() - sinceMs >= HOUR_MS,
        objectStore: options.objectStore,
        keepImages: options.keepImages,
      }),
    ),
  ];
  const url = config.usageExportUrl;
  if (url) {
    const tell = createExportTeller(log, () => clock.monotonicMs());
    const token = config.usageExportToken;
    chores.push(
      every("usage export", AGAIN_MS * 5, async () =>
        tell(await exportUsage({ store, clock, url, token, failpoint, signal: until })),
      ),
    );
  }
  const running = [...options.work, ...chores].map((work) => keepGoing(work));

  async function keepGoing({ name, run }: Work): Promise<void> {
    while (!until.aborted) {
      try {
        await run(until);
        return;
      } catch (error) {
        if (error instanceof LeadershipLostError) return options.lost();
        log.error({ err: error, work: name }, "background work failed, will be retried");
        await clock.sleep(AGAIN_MS, until);
      }
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

function toPruneOptions({ retention, dataFolder, timing }: Config, nowMs: number, log: Log) {
  return { nowMs, retention, dataFolder, log, idempotencyMs: timing.idempotencyMs };
}
