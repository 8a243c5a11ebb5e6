import type { Log } from "@vocalhost/base/log";
import { isDiskFullError } from "./store-errors.ts";
import type { Store } from "./store.ts";

const TRIES_MAX = 5; // another program may fill the disk again as quickly

/**
 * Guards the store against a full disk. Work that can wait calls `requireDiskSpace` first, and is refused. Ends of sessions
 * and agents, and everything else that frees space, are written: old output of bots is dropped to make room.
 */
export function guardDisk(
  store: Store,
  { makeSpace, log }: { makeSpace(): Promise<number>; log: Log },
): Store {
  let making: Promise<void> | undefined;

  function makeRoom(): Promise<void> {
    making ??= makeSpace()
      .then((freedBytes) => {
        if (freedBytes > 0) log.warn({ freedBytes }, "disk is full, output of instances dropped");
      })
      .finally(() => (making = undefined));
    return making;
  }

  return {
    ...store,
    async transaction(run, options) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await store.transaction(run, options);
        } catch (error) {
          if (attempt === TRIES_MAX || !isDiskFullError(error)) throw error;
          await makeRoom();
        }
      }
    },
    requireDiskSpace() {
      if (store.isDiskFull())
        makeRoom().catch((error: unknown) => log.warn({ err: error }, "no room could be made on the disk"));
      store.requireDiskSpace();
    },
  };
}
