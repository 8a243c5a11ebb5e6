/** A queue read with `for await`, by one reader at a time. Beyond its cap the oldest items are dropped. */
export interface BoundedStream<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** Ends the stream; readers still get the queued items. */
  end(): void;
  /** Drops all unread items; they do not count as dropped. */
  clear(): void;
  /** Returns the unread items, oldest first. */
  unread(): readonly T[];
  readonly dropped: number;
  readonly length: number;
  /** Whether a loop is reading it. */
  readonly isRead: boolean;
  /** Whether a loop has ever read it. */
  readonly wasRead: boolean;
}

export interface BoundedStreamOptions {
  maxItems: number;
  /** Completes "… is being read by another loop". */
  name: string;
  /** Tells a second reader what to do instead. */
  advice?: string;
}

export function createBoundedStream<T>(options: BoundedStreamOptions): BoundedStream<T> {
  const items: T[] = [];
  let waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  let reader: object | undefined;
  let wasRead = false;
  let ended = false;
  let dropped = 0;

  function endWaits(): void {
    for (const resolve of waiting.splice(0)) resolve({ value: undefined, done: true });
  }

  return {
    push(item) {
      if (ended) return;
      const resolve = waiting.shift();
      if (resolve) return resolve({ value: item, done: false });
      items.push(item);
      if (items.length > options.maxItems) {
        items.shift();
        dropped += 1;
      }
    },
    end() {
      ended = true;
      endWaits();
    },
    clear: () => void items.splice(0),
    unread: () => items,
    get dropped() {
      return dropped;
    },
    get length() {
      return items.length;
    },
    get isRead() {
      return reader !== undefined;
    },
    get wasRead() {
      return wasRead;
    },
    [Symbol.asyncIterator]() {
      let left = false;
      const iterator: AsyncIterator<T, undefined> = {
        next() {
          if (left) return Promise.resolve({ value: undefined, done: true });
          // Two readers would silently get half of the items each. After the end, any reader may have the rest.
          if (reader && reader !== iterator && !ended) return Promise.reject(isRead(options));
          reader = iterator;
          wasRead = true;
          const item = items.shift();
          if (item !== undefined) return Promise.resolve({ value: item, done: false });
          if (ended) return Promise.resolve({ value: undefined, done: true });
          return new Promise((resolve) => waiting.push(resolve));
        },
        // Leaving a loop early keeps the stream intact, so that a bot may continue later.
        return() {
          left = true;
          if (reader === iterator) {
            reader = undefined;
            endWaits();
          }
          return Promise.resolve({ value: undefined, done: true });
        },
      };
      return iterator;
    },
  };
}

function isRead({ name, advice }: BoundedStreamOptions): TypeError {
  const what = `${name} is being read by another loop, and two would get half of it each.`;
  return new TypeError(advice ? `${what} ${advice}` : `${what} Leave that loop first.`);
}
