/** Batches messages to another thread, since each crossing has a fixed cost. */
export interface Outbox<T> {
  /** Sends a message that can wait at once, unless another was sent just before. The order is kept. */
  post(message: T, canWait: boolean): void;
  /** Sends all waiting messages. */
  flush(): void;
}

export interface OutboxOptions<T> {
  /** Longest wait after the last crossing, in milliseconds. */
  batchMs: number;
  send(messages: T[]): void;
}

export function createOutbox<T>({ batchMs, send }: OutboxOptions<T>): Outbox<T> {
  let waiting: T[] = [];
  let soon: NodeJS.Immediate | undefined; // messages of one turn of the event loop are sent together
  let later: NodeJS.Timeout | undefined;
  let sentMs = -Infinity;

  function flush(): void {
    clearImmediate(soon);
    clearTimeout(later);
    soon = undefined;
    later = undefined;
    if (waiting.length === 0) return;
    const messages = waiting;
    waiting = [];
    sentMs = performance.now();
    send(messages);
  }

  return {
    post(message, canWait) {
      waiting.push(message);
      if (soon || (later && canWait)) return;
      const waitMs = canWait ? sentMs + batchMs - performance.now() : 0;
      if (waitMs > 0) later = setTimeout(flush, waitMs);
      else soon = setImmediate(flush);
    },
    flush,
  };
}
