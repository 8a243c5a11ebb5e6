import { frameMs } from "@vocalhost/audio";
import type { AudioInput, AudioOutput, Transport } from "./transport.ts";

export interface BridgeOptions {
  /** Ends the bridge when aborted; both transports stay usable. */
  signal?: AbortSignal;
}

const LAG_MAX_MS = 200; // a larger backlog would delay everything after it for the rest of the call

/** Passes audio between two sides. Resolves when either side is gone; later audio of the other stays readable. */
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
