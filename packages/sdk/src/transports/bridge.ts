import { frameMs } from "@vocalhost/audio";
import type { AudioInput, AudioOutput, Transport } from "./transport.ts";

export interface BridgeOptions {
  /** Takes the two apart; both can be used on. */
  signal?: AbortSignal;
}

const LAG_MAX_MS = 200; // what a burst leaves in the way would be heard as delay for the rest of the call

/** Lets two sides hear each other. Resolves when either is gone; what the other says afterwards is not lost. */
export async function bridge(
  one: Transport,
  other: Transport,
  { signal }: BridgeOptions = {},
): Promise<void> {
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal;
  try {
    await Promise.race([carry(one.audioIn, other.audioOut, stop), carry(other.audioIn, one.audioOut, stop)]);
  } finally {
    over.abort();
  }
}

async function carry(from: AudioInput, to: AudioOutput, stop: AbortSignal): Promise<void> {
  const frames = from[Symbol.asyncIterator]();
  const leave = (): void => void frames.return?.();
  if (stop.aborted) return;
  stop.addEventListener("abort", leave, { once: true });
  let playedUntilMs = 0;
  try {
    for (let next = await frames.next(); !next.done; next = await frames.next()) {
      const nowMs = performance.now();
      playedUntilMs = Math.max(playedUntilMs, nowMs);
      if (playedUntilMs - nowMs > LAG_MAX_MS) continue;
      playedUntilMs += frameMs(next.value);
      to.write(next.value);
    }
  } finally {
    stop.removeEventListener("abort", leave);
  }
}
