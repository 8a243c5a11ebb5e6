import { unavailable } from "./store-errors.ts";

/** Gives a resource to one holder at a time, first come, first served. */
export class Lock {
  readonly #waitLimitMs: number | undefined;
  readonly #queue = new Set<() => void>();
  #isTaken = false;

  constructor({ waitLimitMs }: { waitLimitMs?: number } = {}) {
    this.#waitLimitMs = waitLimitMs;
  }

  async take(): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.add(resolve);
    if (this.#waitLimitMs === undefined) return promise;
    const timer = setTimeout(() => {
      if (this.#queue.delete(resolve)) reject(unavailable("The database is busy"));
    }, this.#waitLimitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  release(): void {
    const [next] = this.#queue;
    if (!next) this.#isTaken = false;
    else {
      this.#queue.delete(next);
      next();
    }
  }
}
