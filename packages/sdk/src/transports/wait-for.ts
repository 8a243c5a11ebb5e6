import type { WaitOptions } from "./transport.ts";

export interface WaitForOptions extends WaitOptions {
  /** Completes "Gave up waiting for …". */
  what: string;
  onGiveUp?: () => void;
}

/** Waits for a promise until the signal aborts or the timeout expires, and removes its timer and listener. */
export async function waitFor<T>(promise: Promise<T>, options: WaitForOptions): Promise<T> {
  const { signal, timeoutMs } = options;
  if (!signal && timeoutMs === undefined) return promise;
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (reason: unknown): void => {
    options.onGiveUp?.();
    reject(reason instanceof Error ? reason : new Error(String(reason)));
  };
  const onAbort = (): void => giveUp(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => giveUp(new Error(`Gave up waiting for ${options.what} after ${timeoutMs} ms`)),
          timeoutMs,
        );
  try {
    return await Promise.race([promise, givenUp]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
