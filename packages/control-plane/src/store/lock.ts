import { unavailable } from "./store-errors.ts";

/** First come, first served. */
export interface Lock {
  tryTake(): boolean;
  take(): Promise<void>;
  release(): void;
}

export function createLock({ waitLimitMs }: { waitLimitMs?: number } = {}): Lock {
  const queue = new Set<() => void>();
  let isTaken = false;

  function tryTake(): boolean {
    if (isTaken) return false;
    isTaken = true;
    return true;
  }

  return {
    tryTake,
    async take() {
      if (tryTake()) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.add(resolve);
      if (waitLimitMs === undefined) return promise;
      const timer = setTimeout(() => {
        if (queue.delete(resolve)) reject(unavailable("The database is busy"));
      }, waitLimitMs);
      await promise.finally(() => clearTimeout(timer));
    },
    release() {
      const [next] = queue;
      if (!next) {
        isTaken = false;
        return;
      }
      queue.delete(next);
      next();
    },
  };
}
