/** Repeatable randomness: the same seed gives the same run. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  between(low: number, high: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  id(): string;
}

/** mulberry32: small, fast, good enough to shuffle events. */
export function createRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join("");
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    chance: (share) => next() < share,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    id: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
}
