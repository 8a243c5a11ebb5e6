import { createBoundedStream } from "./bounded-stream.ts";

/** Keys pressed on the user's phone or client: one by one with `for await`, or as an entry. */
export interface DtmfInput extends AsyncIterable<string> {
  /** Waits for an entry, such as a menu choice or a number. Throws while another loop reads the keys. */
  collect(options?: CollectOptions): Promise<CollectedKeys>;
}

export interface CollectOptions {
  /** Number of keys that complete the entry. @default 1, or any number where `endKey` is set */
  digits?: number;
  /** Longest wait for each key, in milliseconds. @default 10000 */
  timeoutMs?: number;
  /** Key that completes the entry and is not part of it, such as `"#"`. @default none */
  endKey?: string;
  /** Ignores keys pressed earlier, for instance by a user who knows the menu. @default false */
  flush?: boolean;
  signal?: AbortSignal;
}

export interface CollectedKeys {
  /** The keys pressed, in order, also when the entry ended early. */
  keys: string;
  /** `complete`: all digits or the end key. `timeout`: no further key in time. `ended`: the session is over. */
  end: "complete" | "timeout" | "ended";
}

/** The input, and the function that feeds it. */
export interface DtmfSource {
  readonly input: DtmfInput;
  push(key: string): void;
  end(): void;
}

const QUEUED_MAX = 64;
const TIMEOUT_MS = 10_000;
const KEY = /^[0-9*#A-D]$/;

export function createDtmfInput(): DtmfSource {
  const keys = createBoundedStream<string>({ maxItems: QUEUED_MAX, name: "transport.dtmf" });
  return {
    input: {
      [Symbol.asyncIterator]: () => keys[Symbol.asyncIterator](),
      async collect(options = {}) {
        requireSensible(options);
        if (options.flush) keys.clear();
        const iterator = keys[Symbol.asyncIterator]();
        try {
          return await collect(() => iterator.next(), options);
        } finally {
          await iterator.return?.();
        }
      },
    },
    push: (key) => (KEY.test(key) ? keys.push(key) : undefined),
    end: () => keys.end(),
  };
}

async function collect(
  next: () => Promise<IteratorResult<string>>,
  { digits, timeoutMs = TIMEOUT_MS, endKey, signal }: CollectOptions,
): Promise<CollectedKeys> {
  const wanted = digits ?? (endKey === undefined ? 1 : Infinity);
  let keys = "";
  while (keys.length < wanted) {
    const key = await withDeadline(next(), timeoutMs, signal);
    if (key === "timeout") return { keys, end: "timeout" };
    if (key.done) return { keys, end: "ended" };
    if (key.value === endKey) break;
    keys += key.value;
  }
  return { keys, end: "complete" };
}

async function withDeadline<T>(
  promise: Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T | "timeout"> {
  signal?.throwIfAborted();
  const { promise: given, resolve, reject } = Promise.withResolvers<"timeout">();
  const timer = setTimeout(() => resolve("timeout"), timeoutMs);
  const onAbort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function requireSensible({ digits, timeoutMs, endKey }: CollectOptions): void {
  if (digits !== undefined && !(Number.isInteger(digits) && digits > 0))
    throw new RangeError(`digits must be a whole number above 0, got ${digits}`);
  if (timeoutMs !== undefined && !(timeoutMs >= 0))
    throw new RangeError(`timeoutMs must be 0 or more, got ${timeoutMs}`);
  if (endKey !== undefined && !KEY.test(endKey))
    throw new RangeError(`endKey must be one of 0 to 9, *, # and A to D, got "${endKey}"`);
}
