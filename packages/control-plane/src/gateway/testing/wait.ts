/** Waits for a promise, but not for ever. */
export async function within<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No ${what} within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again and again until the answer is there; fails when the time is up. */
export async function until(ask: () => boolean, timeoutMs: number, what: string): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!ask()) {
    if (performance.now() > deadlineMs) throw new Error(`No ${what} within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
