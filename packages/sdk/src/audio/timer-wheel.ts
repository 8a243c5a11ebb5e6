/** One timer for many: callbacks that are due about the same time run together, in the order they came. */
export function createTimerWheel(options: TimerWheelOptions): TimerWheel {
  const { slotMs } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const wake = options.wake ?? ((callback, delayMs) => void setTimeout(callback, delayMs));
  const slots = new Map<number, Set<() => void>>();
  let nextSlot: number | undefined; // undefined while nothing is to come

  function turn(): void {
    const currentSlot = Math.floor(nowMs() / slotMs);
    for (let slot = nextSlot ?? currentSlot; slot <= currentSlot; slot += 1) {
      const due = slots.get(slot);
      slots.delete(slot);
      nextSlot = slot + 1; // before the callbacks: what they set must not land in a slot that has passed
      for (const callback of due ?? []) callback();
    }
    if (slots.size === 0) nextSlot = undefined;
    else wake(turn, (currentSlot + 1) * slotMs - nowMs());
  }

  return {
    setTimer(callback, delayMs) {
      const wished = Math.ceil((nowMs() + delayMs) / slotMs);
      const slot = Math.max(wished, nextSlot ?? 0);
      const due = slots.get(slot) ?? new Set();
      slots.set(slot, due.add(callback));
      if (nextSlot === undefined) {
        nextSlot = Math.floor(nowMs() / slotMs);
        wake(turn, 0);
      }
      return () => void due.delete(callback);
    },
  };
}

export interface TimerWheelOptions {
  /** Callbacks come up to this much late, though always by the same amount for the same time in a slot. */
  slotMs: number;
  /** @default performance.now */
  nowMs?: () => number;
  /** @default setTimeout */
  wake?: (callback: () => void, delayMs: number) => void;
}

export interface TimerWheel {
  /** The callback must not throw. Gives back a function that cancels. */
  setTimer(callback: () => void, delayMs: number): () => void;
}
