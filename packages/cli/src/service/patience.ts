import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 30_000; // a service that is restarted is back by then
const AGAIN_MS = 500;

/** Repeats a read while the service cannot be reached, for a while. */
export async function patiently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isLost = error instanceof TypeError; // what fetch throws when nobody answers
      if (!isLost || signal.aborted || performance.now() - startMs > PATIENCE_MS) throw error;
      await sleep(AGAIN_MS, undefined, { signal });
    }
  }
}
