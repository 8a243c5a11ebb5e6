import { unavailable } from "./store-errors.ts";

/** First come, first served. */
export interface Lock {
  /** What the next in line said of itself when it came; undefined while nobody waits. */
  readonly next: Taker | undefined;
  tryTake(): boolean;
  take(taker?: Taker): Promise<void>;
  release(): void;
}

export interface Taker {
  sharesCommit: boolean;
}

const ALONE: Taker = { sharesCommit: false };

export function createLock({ waitLimitMs }: { waitLimitMs?: number } = {}): Lock {
  const queue = new Map<() => void, Taker>();
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
