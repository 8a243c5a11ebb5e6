import type { Log } from "@vocalhost/base/log";
import { isDiskFullError } from "./store-errors.ts";
import type { Store } from "./store.ts";

const TRIES_MAX = 5; // whoever fills the disk may be as quick as we are

/**
 * The store behind the one guard against a full disk. What can wait asks `requireDiskSpace` first, and is refused. Ends of
 * sessions and agents, and everything else that lets go of space, are written: output of bots that can be spared makes room.
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
