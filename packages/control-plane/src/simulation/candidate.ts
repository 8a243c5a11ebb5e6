import { keepLease } from "@vocalhost/store/leadership/keep-lease";
import { lookAtLease, takeLease, type LeaseOptions } from "@vocalhost/store/leadership/leader";
import { silentLog } from "@vocalhost/base/log";
import { startDeciding, type SimulatedController, type SimulationSetting } from "./controller.ts";
import { createLife, type Life } from "./life.ts";

/** A controller among several: it stands by until it leads, and dies when it leads no more. */
export interface SimulatedCandidate {
  readonly life: Life;
  /** Once it leads, for as long as it takes itself for the leader. */
  readonly deciding: SimulatedController | undefined;
  /** No other controller may lead before. */
  readonly leaseUntilMs: number;
}

const LOOK_AGAIN_MS = 200;

export function startCandidate(
  setting: SimulationSetting,
  { holder, took }: { holder: string; took(): void },
): SimulatedCandidate {
  const { time, host, timing, store } = setting;
  const life = createLife(setting);
  let deciding: SimulatedController | undefined;
  let leaseUntilMs = 0;
  const clock = {
    nowMs: time.nowMs,
    monotonicMs: time.monotonicMs,
    async sleep(ms: number, signal?: AbortSignal) {
      await time.sleep(ms, signal);
      await life.live();
    },
  };
  const lease: LeaseOptions = {
    ...{ store, clock, timing, holder },
    isDead: () => false, // it is on another machine, so no controller can tell
    newestEpoch: async () => host.newestEpoch(),
  };

  async function lead(epoch: number): Promise<void> {
    const renewed = (): void => void (leaseUntilMs = time.monotonicMs() + timing.leaseMs);
    took();
    renewed();
    const keeping = {
      ...clock,
      async sleep(ms: number, signal?: AbortSignal) {
        renewed(); // every renewal but the first is followed by a sleep at once
        await clock.sleep(ms, signal);
      },
    };
    const { signal } = new AbortController();
    const kept = keepLease(lease, epoch, { clock: keeping, timing, log: silentLog, signal });
    deciding = await startDeciding(setting, life, epoch);
    await kept;
    life.kill();
  }

  async function standBy(): Promise<void> {
    for (;;) {
      await life.live();
      const { isFree } = await lookAtLease(lease);
      const epoch = isFree ? await takeLease(lease) : undefined;
      if (epoch !== undefined) return lead(epoch);
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }

  void standBy().catch((error: unknown) => {
    if (!life.isDead && !isStale(error)) host.faults.push(`a controller failed: ${String(error)}`);
    life.kill();
  });
  return {
    life,
    get deciding() {
      return deciding;
    },
    get leaseUntilMs() {
      return leaseUntilMs;
    },
  };
}

/** It stood still before it could fence off its predecessors, and is one itself by now. */
function isStale(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "EPOCH_STALE";
}
