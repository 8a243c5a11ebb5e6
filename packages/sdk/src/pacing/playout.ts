import { createResampler, samplesIn } from "@vocalhost/audio";
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
  /** The rate of what is sent. @default sampleRateHz */
  wireHz?: number;
  chunkMs: number;
  maxQueuedMs: number;
  /**
   * How far ahead of real time the other side is kept while there is something to say, whatever holds us up. Without
   * a lead it gets one piece per interval.
   * @default 0
   */
  leadMs?: number;
  /** How much of what was sent is remembered, for `rewind`. @default 0 */
  rewindMs?: number;
  /** Called at least once per interval; `undefined` when there is nothing to say. */
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
  const { sampleRateHz, chunkMs, leadMs = 0, wireHz = sampleRateHz } = options;
  const nowMs = options.clock?.nowMs ?? (() => performance.now());
  const chunkSamples = samplesIn(chunkMs, sampleRateHz);
  const rewindChunks = Math.ceil((options.rewindMs ?? 0) / chunkMs);
  const queue = createPlayoutQueue({ sampleRateHz, maxQueuedMs: options.maxQueuedMs });
  const toWire = createResampler({ fromHz: sampleRateHz, toHz: wireHz });
  let playedBefore = 0;
  let speaking = false;
  let idleMs = 0;
  let unreportedMs = 0;
  let tailHeld = false;
  let isPaused = false;
  let sent: Int16Array[] = [];
  let heldUntilMs = -Infinity; // when the other side will have played all it was sent
  let isUnfinished = false; // the last of the sound is still in the resampler

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

  /** False when there was nothing to send. */
  function sendNext(): boolean {
    const chunk = nextChunk();
    if (!chunk) return false;
    isUnfinished = true;
    if (leadMs > 0) heldUntilMs += chunkMs;
    options.send(toWire.process(chunk));
    idleMs = 0;
    unreportedMs += chunkMs;
    setSpeaking(true);
    if (queue.queuedSamples === 0 || unreportedMs >= PROGRESS_MS) {
      unreportedMs = 0;
      options.progress?.();
    }
    return true;
  }

  /** The resampler holds back the end: it goes with silence after it, while it still joins what was before. */
  function finish(): void {
    const rest = toWire.flush();
    isUnfinished = false;
    if (rest.every((sample) => sample === 0)) return;
    const chunk = new Int16Array(samplesIn(chunkMs, wireHz));
    chunk.set(rest);
    heldUntilMs += chunkMs;
    options.send(chunk);
  }

  function idle(): void {
    options.send(undefined);
    if (!speaking || queue.queuedSamples > 0) return;
    idleMs += chunkMs;
    if (idleMs >= PAUSE_MS && heldUntilMs <= nowMs()) setSpeaking(false);
  }

  /** One piece per interval: who plays them knows from their times which ones are late. */
  function tickWithoutLead(): void {
    if (!sendNext()) idle();
  }

  /** Fills up what the other side holds, which a late tick has let run low. */
  function tickWithLead(): void {
    const atMs = nowMs();
    heldUntilMs = Math.max(heldUntilMs, atMs); // what it had to do without is lost
    let isIdle = true;
    // The limit for a second piece is lower than that for the first: where both are one, a tick a millisecond late
    // sends two pieces and the next one none, over and over.
    let limitMs = leadMs + chunkMs;
    while (heldUntilMs - atMs < limitMs && sendNext()) {
      isIdle = false;
      limitMs = leadMs + chunkMs / 2;
    }
    if (!isIdle) return;
    const runsDry = heldUntilMs - atMs < 1.5 * chunkMs;
    if (isUnfinished && runsDry && !isPaused && queue.queuedSamples === 0) finish();
    idle();
  }

  function forgetSound(): void {
    toWire.reset();
    isUnfinished = false;
    heldUntilMs = -Infinity;
    tailHeld = false;
  }

  const pacer = createPacer({
    intervalMs: chunkMs,
    tick: leadMs > 0 ? tickWithLead : tickWithoutLead,
    onError: options.onError,
    ...options.clock,
  });
  return {
    write: (samples) => queue.write(samples),
    clear() {
      queue.clear();
      playedBefore = queue.takenSamples;
      sent = [];
      isPaused = false;
      idleMs = 0;
      forgetSound();
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
        if (!last || beyond <= 0) break;
        sent.pop();
        const kept = Math.max(0, last.length - beyond);
        if (kept > 0) sent.push(last.slice(0, kept));
        queue.putBack(last.subarray(kept));
      }
      forgetSound();
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
