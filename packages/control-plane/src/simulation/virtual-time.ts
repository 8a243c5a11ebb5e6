import type { Clock } from "@vocalhost/base/clock";

/** Time that passes only when nothing else is left to do. */
export interface VirtualTime extends Clock {
  /** Does it at a later moment, whatever becomes of the controller. */
  at(ms: number, run: () => void): void;
  /** Lets time pass up to this moment. */
  runUntil(ms: number): Promise<void>;
}

export const EPOCH_START_MS = Date.UTC(2026, 0, 31, 23, 59, 30); // sessions cross the end of a month

export function createVirtualTime(): VirtualTime {
  let nowMs = 0;
  let order = 0;
  const queue: { ms: number; order: number; run: () => void }[] = [];

  function at(ms: number, run: () => void): void {
    const entry = { ms: Math.max(ms, nowMs), order: order++, run };
    let [place, end] = [0, queue.length];
    while (place < end) {
      const middle = (place + end) >> 1;
      if (isAfter(queue[middle]!, entry)) end = middle;
      else place = middle + 1;
    }
    queue.splice(place, 0, entry);
  }

  return {
    nowMs: () => EPOCH_START_MS + Math.floor(nowMs),
    monotonicMs: () => nowMs,
    sleep(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal?.aborted) return Promise.resolve();
      at(nowMs + ms, resolve);
      signal?.addEventListener("abort", () => resolve(), { once: true });
      return promise;
    },
    at,
    async runUntil(ms) {
      await quiet();
      while (queue.length > 0 && queue[0]!.ms <= ms) {
        const entry = queue.shift()!;
        nowMs = entry.ms;
        entry.run();
        await quiet();
      }
      nowMs = ms;
    },
  };
}

function isAfter(a: { ms: number; order: number }, b: { ms: number; order: number }): boolean {
  return a.ms > b.ms || (a.ms === b.ms && a.order > b.order);
}

// Everything under test waits on promises only, so one turn of the event loop sees them all settled.
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
