import type { SeenInstance } from "@vocalhost/drivers/driver";
import { FORGOTTEN_AT_ONCE, forgetInstance, RecordsLeftError } from "@vocalhost/drivers/forget-instance";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { World } from "../sessions/world.ts";
import type { Orders } from "./orders.ts";
import { severalAtOnce } from "./several-at-once.ts";

export interface SweepOptions {
  world: Pick<World, "driver" | "records" | "clock" | "log">;
  orders: Orders;
  /** Reads the last output of an object before it is forgotten. */
  beforeForget?: ((instanceId: string) => Promise<void>) | undefined;
}

/** An object whose output cannot be read for this long is forgotten without it. */
const UNREADABLE_MS = 60_000;

/** Ends and forgets objects that no row refers to. An object that cannot be forgotten does not hold up the others. */
export function createSweep(options: SweepOptions) {
  const { world, orders } = options;
  const failingSinceMs = new Map<string, number>();
  const recordsLeft = new Set<string>(); // their objects are gone, so no list names them any more

  async function forget(id: string): Promise<void> {
    const sinceMs = failingSinceMs.get(id);
    if (sinceMs === undefined || world.clock.monotonicMs() - sinceMs < UNREADABLE_MS)
      await options.beforeForget?.(id);
    await forgetInstance(world, id);
    failingSinceMs.delete(id);
    recordsLeft.delete(id);
  }

  function noteFailure(id: string, error: unknown): void {
    if (error instanceof LeadershipLostError) throw error;
    if (error instanceof RecordsLeftError) recordsLeft.add(id);
    if (failingSinceMs.has(id)) return;
    world.log.error({ err: error, instanceId: id }, "instance cannot be forgotten, will be retried");
    failingSinceMs.set(id, world.clock.monotonicMs());
  }

  async function removeRecords(id: string): Promise<void> {
    const isGone = await world.records.remove(id).then(
      () => true,
      () => false, // logged when it failed first
    );
    if (isGone) recordsLeft.delete(id);
  }

  return async (live: ReadonlySet<string>, seen: ReadonlyMap<string, SeenInstance>): Promise<void> => {
    const again = [...recordsLeft].filter((id) => !seen.has(id));
    await severalAtOnce(again, { atOnce: FORGOTTEN_AT_ONCE, each: removeRecords });
    for (const id of failingSinceMs.keys())
      if (!seen.has(id) && !recordsLeft.has(id)) failingSinceMs.delete(id);
    const strays = [...seen.values()].filter(({ id }) => !live.has(id));
    for (const { id, state } of strays) if (state === "running") orders.destroy(id, 0);
    const ended = strays.filter(({ id, state }) => state !== "running" && !orders.isDestroying(id));
    await severalAtOnce(ended, {
      atOnce: FORGOTTEN_AT_ONCE,
      each: ({ id }) => forget(id).catch((error: unknown) => noteFailure(id, error)),
    });
  };
}
