export interface TimeoutOptions {
  limitMs: number;
  signal: AbortSignal;
}

/**
 * Passes on the items of a source, and throws when none arrives within the limit. The source's signal is then
 * aborted.
 */
export async function* withTimeouts<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  options: TimeoutOptions,
): AsyncGenerator<T, void> {
  const over = new AbortController();
  const source = open(AbortSignal.any([options.signal, over.signal]))[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withTimeout(source.next(), options);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    over.abort(new Error("The wait for this service was given up"));
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
}

/** Waits for a service up to the limit. */
export async function withTimeout<T>(promise: Promise<T>, { limitMs, signal }: TimeoutOptions): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () => reject(new DOMException(`sent nothing for ${limitMs} ms`, "TimeoutError")),
    limitMs,
  );
  try {
    return await Promise.race([promise, givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
