/** A queue read with `for await`. Beyond its cap the oldest items give way. */
export interface BoundedStream<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** Readers get what is queued, then the end. */
  end(): void;
  readonly dropped: number;
  readonly length: number;
}

export function createBoundedStream<T>(maxItems: number): BoundedStream<T> {
  const items: T[] = [];
  let readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  let ended = false;
  let dropped = 0;

  return {
    push(item) {
      if (ended) return;
      const reader = readers.shift();
      if (reader) return reader({ value: item, done: false });
      items.push(item);
      if (items.length > maxItems) {
        items.shift();
        dropped += 1;
      }
    },
    end() {
      ended = true;
      for (const reader of readers.splice(0)) reader({ value: undefined, done: true });
    },
    get dropped() {
      return dropped;
    },
    get length() {
      return items.length;
    },
    [Symbol.asyncIterator]() {
      let reader: ((result: IteratorResult<T, undefined>) => void) | undefined;
      return {
        next() {
          const item = items.shift();
          if (item !== undefined) return Promise.resolve({ value: item, done: false });
          if (ended) return Promise.resolve({ value: undefined, done: true });
          return new Promise((resolve) => readers.push((reader = resolve)));
        },
        // Leaving a loop early leaves the stream whole, so that a bot may read on later.
        return() {
          readers = readers.filter((waiting) => waiting !== reader);
          reader?.({ value: undefined, done: true });
          return Promise.resolve({ value: undefined, done: true });
        },
      };
    },
  };
}
