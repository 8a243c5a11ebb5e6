import type { SeenInstance } from "../drivers/driver.ts";
import { FORGOTTEN_AT_ONCE, forgetInstance } from "../drivers/forget-instance.ts";
import { LeadershipLostError } from "../leader/leader.ts";
import type { World } from "../world.ts";
import { severalAtOnce } from "./several-at-once.ts";

export interface SweepOptions {
  world: Pick<World, "driver" | "records" | "clock" | "log">;
  destroy(instanceId: string, graceMs: number): void;
  isBeingDestroyed(instanceId: string): boolean;
  /** Reads the last output of an object before it is forgotten. */
  beforeForget?: ((instanceId: string) => Promise<void>) | undefined;
}

/** After so long an object is forgotten without its last output. */
const UNREADABLE_MS = 60_000;

/** Ends and forgets objects that no row refers to. One that cannot be forgotten does not hold up the rest. */
export function createSweep(options: SweepOptions) {
  const { world } = options;
  const failingSinceMs = new Map<string, number>();

  async function forget(id: string): Promise<void> {
    const sinceMs = failingSinceMs.get(id);
    if (sinceMs === undefined || world.clock.monotonicMs() - sinceMs < UNREADABLE_MS)
      await options.beforeForget?.(id);
    await forgetInstance(world, id);
    failingSinceMs.delete(id);
  }

  return async (live: ReadonlySet<string>, seen: ReadonlyMap<string, SeenInstance>): Promise<void> => {
    for (const id of failingSinceMs.keys()) if (!seen.has(id)) failingSinceMs.delete(id);
    const strays = [...seen.values()].filter(({ id }) => !live.has(id));
    for (const { id, state } of strays) if (state === "running") options.destroy(id, 0);
    const ended = strays.filter(({ id, state }) => state !== "running" && !options.isBeingDestroyed(id));
    await severalAtOnce(ended, {
      atOnce: FORGOTTEN_AT_ONCE,
      each: ({ id }) =>
        forget(id).catch((error: unknown) => {
          if (error instanceof LeadershipLostError) throw error;
          if (!failingSinceMs.has(id))
            world.log.error({ err: error, instanceId: id }, "instance cannot be forgotten, will be retried");
          if (!failingSinceMs.has(id)) failingSinceMs.set(id, world.clock.monotonicMs());
        }),
    });
  };
}
