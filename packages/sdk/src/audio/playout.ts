import { samplesIn } from "@vocalhost/audio";
import { createPacer, type PacerOptions } from "./pacer.ts";
import { createPlayoutQueue } from "./playout-queue.ts";

/** Plays queued audio at real time, in equal chunks, and can forget it at once. */
export interface Playout {
  /** Samples accepted; what does not fit under the cap is dropped. */
  write(samples: Int16Array): number;
  /** Forgets what is queued; ends a pause. */
  clear(): void;
  /** Sends nothing until it is false again; what is queued waits. */
  pause(paused: boolean): void;
  /** Takes back what was sent after so many samples since the last `clear`, as far as it is remembered. */
  rewind(playedSamples: number): void;
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
  /** How much of what was sent is remembered, for `rewind`. @default 0 */
  rewindMs?: number;
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
  const rewindChunks = Math.ceil((options.rewindMs ?? 0) / chunkMs);
  const queue = createPlayoutQueue({ sampleRateHz, maxQueuedMs: options.maxQueuedMs });
  let playedBefore = 0;
  let speaking = false;
  let idleMs = 0;
  let unreportedMs = 0;
  let tailHeld = false;
  let isPaused = false;
  let sent: Int16Array[] = [];

  function setSpeaking(next: boolean): void {
    if (speaking === next) return;
    speaking = next;
    options.speaking?.(next);
  }

  function remember(samples: Int16Array): void {
    sent.push(samples);
    if (sent.length > rewindChunks) sent.shift();
  }

  // Writers deliver in uneven pieces: a short tail waits one interval for its rest before it is padded.
  function nextChunk(): Int16Array | undefined {
    if (isPaused || queue.queuedSamples === 0) return undefined;
    if (queue.queuedSamples < chunkSamples && !tailHeld) {
      tailHeld = true;
      return undefined;
    }
    tailHeld = false;
    const before = queue.takenSamples;
    const chunk = queue.take(chunkSamples);
    if (chunk && rewindChunks > 0) remember(chunk.slice(0, queue.takenSamples - before));
    return chunk;
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
      sent = [];
      tailHeld = false;
      isPaused = false;
      idleMs = 0;
      setSpeaking(false);
    },
    pause(paused) {
      isPaused = paused;
      if (paused) setSpeaking(false);
    },
    rewind(playedSamples) {
      for (;;) {
        const last = sent.at(-1);
        const beyond = queue.takenSamples - playedBefore - playedSamples;
        if (!last || beyond <= 0) return;
        sent.pop();
        const kept = Math.max(0, last.length - beyond);
        if (kept > 0) sent.push(last.slice(0, kept));
        queue.putBack(last.subarray(kept));
      }
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
