import type { AudioOutput } from "../transports/transport.ts";

export interface WatchSilenceOptions {
  audioOut: AudioOutput;
  limitMs: number;
  /**
   * Since when the caller has been waiting for the bot, by `performance.now()`; undefined when the caller waits
   * for nothing.
   */
  owedSinceMs(): number | undefined;
  /** Called when the caller has heard nothing for the limit, and again after each further limit. */
  silent(): void;
}

const CHECKS = 16; // checks per limit

/** Watches for a caller who waits for the bot in silence for too long, whatever causes it. */
export function watchSilence({ audioOut, limitMs, ...options }: WatchSilenceOptions): Disposable {
  let heardAtMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const owedSinceMs = options.owedSinceMs();
    if (audioOut.queuedMs > 0) heardAtMs = nowMs;
    if (owedSinceMs === undefined || nowMs - Math.max(heardAtMs, owedSinceMs) < limitMs) return;
    heardAtMs = nowMs;
    options.silent();
  }, limitMs / CHECKS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
