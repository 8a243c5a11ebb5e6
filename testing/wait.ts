import { inspect } from "node:util";
import { patientMs } from "./patience.ts";

// Deadlines are said for a quiet machine, see `patience.ts`.

/** Waits for a promise, but not for ever. */
export async function within<T>(promise: Promise<T>, quietMs: number, what: string): Promise<T> {
  const timeoutMs = patientMs(quietMs);
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
  quietMs: number,
  what: string,
): Promise<T> {
  const timeoutMs = patientMs(quietMs);
  const deadlineMs = performance.now() + timeoutMs;
  for (let againMs = ASK_FIRST_MS; ; againMs = Math.min(againMs * 1.3, ASK_AGAIN_MAX_MS)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs) throw new Error(`No ${what} within ${timeoutMs} ms`);
    await pause(againMs);
  }
}

export interface EventuallyOptions<T> {
  /** Completes "… did not come true". */
  what: string;
  look(): T | Promise<T>;
  until(seen: T): boolean;
  /** @default 15000 */
  quietMs?: number;
}

/** Looks again and again until it sees what is wanted; says what it saw last when the time is up. */
export async function eventually<T>(options: EventuallyOptions<T>): Promise<T> {
  let seen: { value: T } | undefined;
  const look = async (): Promise<{ value: T } | false> => {
    seen = { value: await options.look() };
    return options.until(seen.value) && seen;
  };
  const found = await until(look, options.quietMs ?? 15_000, options.what).catch((error: unknown) => {
    const told = error instanceof Error ? error.message : String(error);
    throw new Error(`${told}, last seen ${inspect(seen?.value)}`, { cause: error });
  });
  return found.value;
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

const ASK_FIRST_MS = 10;
const ASK_AGAIN_MAX_MS = 100; // every question takes from those who work on the answer
const AT_A_TIME = 10;
