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
  let readers: { of: object; resolve(result: IteratorResult<T, undefined>): void }[] = [];
  let ended = false;
  let dropped = 0;

  return {
    push(item) {
      if (ended) return;
      const reader = readers.shift();
      if (reader) return reader.resolve({ value: item, done: false });
      items.push(item);
      if (items.length > maxItems) {
        items.shift();
        dropped += 1;
      }
    },
    end() {
      ended = true;
      for (const reader of readers.splice(0)) reader.resolve({ value: undefined, done: true });
    },
    get dropped() {
      return dropped;
    },
    get length() {
      return items.length;
    },
    [Symbol.asyncIterator]() {
      let left = false;
      const iterator: AsyncIterator<T, undefined> = {
        next() {
          const item = left ? undefined : items.shift();
          if (item !== undefined) return Promise.resolve({ value: item, done: false });
          if (ended || left) return Promise.resolve({ value: undefined, done: true });
          return new Promise((resolve) => readers.push({ of: iterator, resolve }));
        },
        // Leaving a loop early leaves the stream whole, so that a bot may read on later.
        return() {
          left = true;
          const mine = readers.filter((reader) => reader.of === iterator);
          readers = readers.filter((reader) => reader.of !== iterator);
          for (const reader of mine) reader.resolve({ value: undefined, done: true });
          return Promise.resolve({ value: undefined, done: true });
        },
      };
      return iterator;
    },
  };
}
