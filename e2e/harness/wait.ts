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
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs: number,
  what: string,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs) throw new Error(`No ${what} within ${timeoutMs} ms`);
    await pause(ASK_AGAIN_MS);
  }
}

/** Does it for each item, a few at a time. */
export async function aFewAtATime<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const ASK_AGAIN_MS = 20;
const AT_A_TIME = 10;
