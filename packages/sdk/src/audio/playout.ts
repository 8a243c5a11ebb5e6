import { samplesIn } from "@vocalhost/audio";
import { createPacer, type PacerOptions } from "./pacer.ts";
import { createPlayoutQueue } from "./playout-queue.ts";

/** Plays queued audio at real time, in equal chunks, and can forget it at once. */
export interface Playout {
  /** Samples accepted; what does not fit under the cap is dropped. */
  write(samples: Int16Array): number;
  clear(): void;
  start(): void;
  stop(): void;
  readonly queuedSamples: number;
  /** Samples played since the last `clear`. */
  readonly playedSamples: number;
}

export interface PlayoutOptions {
  sampleRateHz: number;
  chunkMs: number;
  maxQueuedMs: number;
  /** How far ahead of real time the other side is kept, once there is something to say. @default 0 */
  leadMs?: number;
  /** Called once per interval; `undefined` when there is nothing to say. */
  send(chunk: Int16Array | undefined): void;
  /** Called after the last queued sample was sent, and every `PROGRESS_MS` while playing. */
  progress?(): void;
  /** The bot began or stopped to be heard. */
  speaking?(speaking: boolean): void;
  onError?(error: unknown): void;
  /** @default the machine's */
  clock?: Pick<PacerOptions, "nowMs" | "setTimer">;
}

const PROGRESS_MS = 100; // how stale `queuedMs` may be
const PAUSE_MS = 240; // a shorter gap is breath between words, not the end of speech

export function createPlayout(options: PlayoutOptions): Playout {
  const { sampleRateHz, chunkMs } = options;
  const chunkSamples = samplesIn(chunkMs, sampleRateHz);
  const queue = createPlayoutQueue({ sampleRateHz, maxQueuedMs: options.maxQueuedMs });
  let playedBefore = 0;
  let speaking = false;
  let idleMs = 0;
  let unreportedMs = 0;
  let tailHeld = false;

  function setSpeaking(next: boolean): void {
    if (speaking === next) return;
    speaking = next;
    options.speaking?.(next);
  }

  // Writers deliver in uneven pieces: a short tail waits one interval for its rest before it is padded.
  function nextChunk(): Int16Array | undefined {
    if (queue.queuedSamples === 0) return undefined;
    if (queue.queuedSamples < chunkSamples && !tailHeld) {
      tailHeld = true;
      return undefined;
    }
    tailHeld = false;
    return queue.take(chunkSamples);
  }

  function tick(): void {
    const leads = speaking ? 0 : Math.floor((options.leadMs ?? 0) / chunkMs);
    for (let lead = 0; lead < leads && queue.queuedSamples > chunkSamples; lead += 1) sendNext();
    sendNext();
  }

  function sendNext(): void {
    const chunk = nextChunk();
    options.send(chunk);
    if (chunk) {
      idleMs = 0;
      unreportedMs += chunkMs;
      setSpeaking(true);
      if (queue.queuedSamples === 0 || unreportedMs >= PROGRESS_MS) {
        unreportedMs = 0;
        options.progress?.();
      }
    } else if (speaking && queue.queuedSamples === 0) {
      idleMs += chunkMs;
      if (idleMs >= PAUSE_MS) setSpeaking(false);
    }
  }

  const pacer = createPacer({ intervalMs: chunkMs, tick, onError: options.onError, ...options.clock });
  return {
    write: (samples) => queue.write(samples),
    clear() {
      queue.clear();
      playedBefore = queue.takenSamples;
      tailHeld = false;
      idleMs = 0;
      setSpeaking(false);
    },
    start: () => pacer.start(),
    stop() {
      pacer.stop();
      setSpeaking(false);
    },
    get queuedSamples() {
      return queue.queuedSamples;
    },
    get playedSamples() {
      return queue.takenSamples - playedBefore;
    },
  };
}
