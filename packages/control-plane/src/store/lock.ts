import type { TransactionOptions } from "./store.ts";
import { unavailable } from "./store-errors.ts";

/** First come, first served. */
export interface Lock {
  /** What the next in line said of itself when it came; undefined while nobody waits. */
  readonly next: Required<TransactionOptions> | undefined;
  tryTake(): boolean;
  take(taker?: Required<TransactionOptions>): Promise<void>;
  release(): void;
}

const ALONE = { sharesCommit: false, survivesPowerLoss: true };

export function createLock({ waitLimitMs }: { waitLimitMs?: number } = {}): Lock {
  const queue = new Map<() => void, Required<TransactionOptions>>();
  let isTaken = false;

  function tryTake(): boolean {
    if (isTaken) return false;
    isTaken = true;
    return true;
  }

  return {
    get next() {
      for (const taker of queue.values()) return taker;
      return undefined;
    },
    tryTake,
    async take(taker = ALONE) {
      if (tryTake()) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.set(resolve, taker);
      if (waitLimitMs === undefined) return promise;
      const timer = setTimeout(() => {
        if (queue.delete(resolve)) reject(unavailable("The database is busy"));
      }, waitLimitMs);
      await promise.finally(() => clearTimeout(timer));
    },
    release() {
      const [next] = queue.keys();
      if (!next) {
        isTaken = false;
        return;
      }
      queue.delete(next);
      next();
    },
  };
}
