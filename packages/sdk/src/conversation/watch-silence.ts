import type { AudioOutput } from "../transports/transport.ts";

export interface WatchSilenceOptions {
  audioOut: AudioOutput;
  limitMs: number;
  /** Since when the caller has been waiting for the bot, by `performance.now()`; undefined when nothing is owed. */
  owedSinceMs(): number | undefined;
  /** Nothing was heard for as long as the limit. Called again when that is so again. */
  silent(): void;
}

const LOOKS = 16; // in the time of the limit

/** Says when a caller who waits for the bot has heard nothing for too long, whatever it is that takes so long. */
export function watchSilence({ audioOut, limitMs, ...options }: WatchSilenceOptions): Disposable {
  let heardAtMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const owedSinceMs = options.owedSinceMs();
    if (audioOut.queuedMs > 0) heardAtMs = nowMs;
    if (owedSinceMs === undefined || nowMs - Math.max(heardAtMs, owedSinceMs) < limitMs) return;
    heardAtMs = nowMs;
    options.silent();
  }, limitMs / LOOKS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
