/** Reorders numbered pieces within a small window. Every piece is returned, whatever its number. */
export interface InOrder<T> {
  push(number: number | undefined, item: T): T[];
}

const WINDOW = 3; // 60 ms of phone audio: a longer delay would be worse than a misplaced piece

export function createInOrder<T>(): InOrder<T> {
  const waiting = new Map<number, T>();
  let next = NaN; // before the first number
  let afterStray = NaN;

  function nextInARow(): T[] {
    const ready: T[] = [];
    for (; waiting.has(next); next += 1) {
      ready.push(waiting.get(next)!);
      waiting.delete(next);
    }
    return ready;
  }

  function allWaiting(): T[] {
    const pieces = [...waiting].sort(([left], [right]) => left - right);
    next = pieces.at(-1)![0] + 1;
    waiting.clear();
    return pieces.map(([, piece]) => piece);
  }

  function push(number: number, item: T): T[] {
    const ahead = number - next;
    if (Number.isInteger(ahead) && ahead >= 0 && ahead <= WINDOW && !waiting.has(number)) {
      waiting.set(number, item);
      afterStray = NaN;
      return nextInARow();
    }
    if (waiting.size > 0) return [...allWaiting(), ...push(number, item)];
    // A single lower number is a late piece; two in a row mean that the counter has restarted.
    if (!(ahead < 0) || number === afterStray) next = number + 1;
    afterStray = number + 1;
    return [item];
  }

  return { push: (number = NaN, item) => push(number, item) };
}
