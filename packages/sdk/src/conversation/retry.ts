import type { ServiceFailure } from "./service-failure.ts";

export interface RetryOptions {
  /** Longest wait for a service. The pauses between attempts and the time until giving up follow from it. */
  limitMs: number;
  signal: AbortSignal;
  /** Turns a thrown value into the reported failure. */
  asFailure(error: unknown): ServiceFailure;
  /** Whether another attempt is allowed after this failure. @default always */
  mayRetry?(): boolean;
  /** Called for every failure; `isOutage`: a second attempt failed too, or there will be none. */
  failed(failure: ServiceFailure, isOutage: boolean): void;
}

export const GIVE_UP_AFTER_LIMITS = 15; // times the limit: about a minute, after which callers have hung up

/** Retries an operation at once after its first failure, then with growing pauses. Rejects with the last failure. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { limitMs, signal } = options;
  const giveUpAtMs = performance.now() + GIVE_UP_AFTER_LIMITS * limitMs;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = options.asFailure(error);
      const isLast = failure.isForGood || performance.now() > giveUpAtMs || !(options.mayRetry?.() ?? true);
      options.failed(failure, isLast || count > 1);
      if (isLast) throw failure;
      await backOff(count, options);
    }
  }
}

/** Waits before the next attempt: not after the first failure, then longer each time. */
export async function backOff(
  failures: number,
  { limitMs, signal }: Pick<RetryOptions, "limitMs" | "signal">,
): Promise<void> {
  if (failures < 2) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(limitMs / 2, (limitMs / 4) * 2 ** (failures - 2)));
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  signal.throwIfAborted();
}
