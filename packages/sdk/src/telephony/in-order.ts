/** Puts numbered pieces back in order; a missing one holds up at most `WAITING_MAX` others. */
export interface InOrder<T> {
  push(number: number | undefined, item: T): T[];
}

const WAITING_MAX = 3; // 60 ms of a phone's audio: more delay would hurt more than a gap

export function createInOrder<T>(): InOrder<T> {
  const waiting = new Map<number, T>();
  let next: number | undefined;

  function release(): T[] {
    const ready: T[] = [];
    while (next !== undefined && waiting.has(next)) {
      ready.push(waiting.get(next)!);
      waiting.delete(next);
      next += 1;
    }
    return ready;
  }

  return {
    push(number, item) {
      if (number === undefined) return [item];
      next ??= number;
      if (number < next) return number < next - WAITING_MAX * 16 ? restart(number, item) : []; // too late to be heard
      waiting.set(number, item);
      const ready = release();
      if (waiting.size > WAITING_MAX) {
        next = Math.min(...waiting.keys());
        ready.push(...release());
      }
      return ready;
    },
  };

  // A counter that jumps far back has started again.
  function restart(number: number, item: T): T[] {
    waiting.clear();
    next = number + 1;
    return [item];
  }
}
