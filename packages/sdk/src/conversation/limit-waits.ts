export interface LimitWaitsOptions {
  limitMs: number;
  signal: AbortSignal;
}

/** Passes on what comes, and fails when nothing does for so long. Its source is told by the signal that it is given. */
export async function* limitWaits<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  options: LimitWaitsOptions,
): AsyncGenerator<T, void> {
  const over = new AbortController();
  const source = open(AbortSignal.any([options.signal, over.signal]))[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await limitWait(source.next(), options);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    over.abort(new Error("Nobody waits for this any more"));
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
}

/** Waits for a service, but no longer than the limit. */
export async function limitWait<T>(promise: Promise<T>, { limitMs, signal }: LimitWaitsOptions): Promise<T> {
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
