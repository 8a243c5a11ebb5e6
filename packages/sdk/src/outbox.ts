/** Messages to another thread. Crossing costs more than what crosses, so they go together. */
export interface Outbox<T> {
  /** What can wait goes at once too, unless something went just before. The order stays. */
  post(message: T, canWait: boolean): void;
  /** Sends what waits. */
  flush(): void;
}

export interface OutboxOptions<T> {
  /** How long what can wait may have to, after the last crossing. */
  batchMs: number;
  send(messages: T[]): void;
}

export function createOutbox<T>({ batchMs, send }: OutboxOptions<T>): Outbox<T> {
  let waiting: T[] = [];
  let soon: NodeJS.Immediate | undefined; // everything of one turn of the loop goes together
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
