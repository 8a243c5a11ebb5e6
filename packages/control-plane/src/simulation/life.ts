import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Whether a process still lives. It may die, or freeze and come back, at any of its awaits. */
export interface Life {
  readonly isDead: boolean;
  readonly isFrozen: boolean;
  kill(): void;
  /** Stands still for a while, as under SIGSTOP, then goes on as if nothing had been. */
  freeze(ms: number): void;
  /** Passed at every await: here the process may be gone for good, or for a while. */
  live(): Promise<void>;
  /** Something it does to the world, which happens whether or not it lives to hear of it. */
  effect<T>(run: () => T | Promise<T>): Promise<T>;
}

export interface LifeOptions {
  time: VirtualTime;
  random: Random;
  /** The share of awaits at which it dies. */
  deathRate: number;
  /** The share of what it does to the world that comes late. */
  lateRate: number;
}

export function createLife({ time, random, deathRate, lateRate }: LifeOptions): Life {
  let isDead = false;
  let frozenUntilMs = 0;
  const forever = new Promise<never>(() => undefined);

  async function live(): Promise<void> {
    if (!isDead && random.chance(deathRate)) isDead = true;
    if (isDead) return forever;
    const waitMs = frozenUntilMs - time.monotonicMs();
    if (waitMs > 0) {
      await time.sleep(waitMs);
      return live();
    }
    return undefined;
  }

  return {
    get isDead() {
      return isDead;
    },
    get isFrozen() {
      return time.monotonicMs() < frozenUntilMs;
    },
    kill() {
      isDead = true;
    },
    freeze(ms) {
      frozenUntilMs = time.monotonicMs() + ms;
    },
    live,
    async effect(run) {
      await live();
      await time.sleep(random.between(0.1, random.chance(lateRate) ? 2_000 : 5)); // the order was on its way
      const result = await run();
      await live();
      await time.sleep(random.between(0.1, 5));
      await live();
      return result;
    },
  };
}
