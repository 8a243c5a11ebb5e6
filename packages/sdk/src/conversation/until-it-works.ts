import type { ServiceFailure } from "./service-failure.ts";

export interface UntilItWorksOptions {
  /** Longest wait for a service: pauses between attempts, and when it gives up, follow from it. */
  limitMs: number;
  signal: AbortSignal;
  /** Makes of what was thrown what is told. */
  asFailure(error: unknown): ServiceFailure;
  /** Whether it may be tried again after this. @default yes */
  mayRetry?(): boolean;
  /** Told of every failure; `isOutage`: a second attempt failed too, or there will be none. */
  failed(failure: ServiceFailure, isOutage: boolean): void;
}

export const GIVES_UP_AFTER = 15; // times the limit: a minute, and who has waited for that long has hung up

/** Tries at once again what failed, then with growing pauses, until it works. Rejects with what was told last. */
export async function untilItWorks<T>(attempt: () => Promise<T>, options: UntilItWorksOptions): Promise<T> {
  const { limitMs, signal } = options;
  const giveUpAtMs = performance.now() + GIVES_UP_AFTER * limitMs;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = options.asFailure(error);
      const isLast = failure.isForGood || performance.now() > giveUpAtMs || !(options.mayRetry?.() ?? true);
      options.failed(failure, isLast || count > 1);
      if (isLast) throw failure;
      await pauseBefore(count, options);
    }
  }
}

/** Waits before the next attempt: not at all after the first failure, then longer and longer. */
export async function pauseBefore(
  failures: number,
  { limitMs, signal }: Pick<UntilItWorksOptions, "limitMs" | "signal">,
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
