import type { Clock } from "@vocalhost/base/clock";

/** Tells waiters that something may have changed. A waiter checks again, so a lost wake-up costs time only. */
export interface Wakeups {
  wake(key: string): void;
  /** Resolves when the key is woken or the time has passed. */
  wait(key: string, ms: number): Promise<void>;
}

/** Returns the key of starts that wait for a free instance of an agent. */
export function capacityOf({ organizationId, name }: { organizationId: string; name: string }): string {
  return `capacity:${organizationId}/${name}`;
}

const WOKEN = "woken"; // without a reason each would be an error with a stack

export function createWakeups(clock: Clock): Wakeups {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wake(key) {
      for (const resolve of waiting.get(key) ?? []) resolve();
    },
    async wait(key, ms) {
      const woken = Promise.withResolvers<void>();
      const timeout = new AbortController();
      const set = waiting.get(key) ?? new Set();
      waiting.set(key, set.add(woken.resolve));
      await Promise.race([woken.promise, clock.sleep(ms, timeout.signal)]);
      timeout.abort(WOKEN);
      set.delete(woken.resolve);
      if (set.size === 0) waiting.delete(key);
    },
  };
}
