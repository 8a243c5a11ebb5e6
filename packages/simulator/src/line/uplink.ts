import type { Clock } from "../clock.ts";

/** Calls `onChunk` once per chunk of microphone, when it has been spoken, without drift. */
export function startUplink(options: UplinkOptions): Uplink {
  const { clock, chunkMs, onChunk } = options;
  const startMs = clock.nowMs();
  let chunks = 0;
  let isStopped = false;
  let cancelTimer = schedule();

  function schedule(): () => void {
    return clock.setTimer(onTimer, Math.max(0, startMs + (chunks + 1) * chunkMs - clock.nowMs()));
  }

  function onTimer(): void {
    const sinceStartMs = clock.nowMs() - startMs;
    options.onLag?.(sinceStartMs - (chunks + 1) * chunkMs);
    const spoken = Math.floor((sinceStartMs + TIMER_SLACK_MS) / chunkMs);
    // A machine that slept has heard nothing meanwhile; a burst would only confuse the bot.
    if ((spoken - chunks) * chunkMs > MAX_LAG_MS) chunks = spoken - 1;
    while (chunks < spoken && !isStopped) {
      onChunk(chunks * chunkMs);
      chunks += 1;
    }
    if (!isStopped) cancelTimer = schedule();
  }

  return {
    stop() {
      isStopped = true;
      cancelTimer();
    },
  };
}

export interface UplinkOptions {
  clock: Clock;
  chunkMs: number;
  /** Gets the time the chunk began, since the start. */
  onChunk: (fromMs: number) => void;
  /** How late this machine is, at every timer. */
  onLag?: (lagMs: number) => void;
}

export interface Uplink {
  stop(): void;
}

const MAX_LAG_MS = 1000;
const TIMER_SLACK_MS = 0.5; // timers may come a fraction early
