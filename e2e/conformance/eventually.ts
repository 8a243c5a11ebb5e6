import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

export interface EventuallyOptions<T> {
  /** Completes "… did not come true". */
  what: string;
  look(): T | Promise<T>;
  until(seen: T): boolean;
  /** @default 15000 */
  timeoutMs?: number;
}

const LOOK_AGAIN_MS = 50;

/** Looks again and again until it sees what is wanted; says what it saw last when the time is up. */
export async function eventually<T>(options: EventuallyOptions<T>): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 15_000;
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = await options.look();
    if (options.until(seen)) return seen;
    if (performance.now() > deadlineMs)
      throw new Error(
        `${options.what}: did not come true within ${timeoutMs} ms, last seen ${inspect(seen)}`,
      );
    await pause(LOOK_AGAIN_MS);
  }
}
