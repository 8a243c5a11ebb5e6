import { createResampler, samplesIn, type Resampler } from "@vocalhost/audio";
import { createPacer, type Pacer, type PacerOptions } from "./pacer.ts";
import { createPlayoutQueue, type PlayoutQueue } from "./playout-queue.ts";

/** Plays queued audio in real time, in equal chunks, and can drop it at once. */
export interface Playout {
  /** Returns the number of samples accepted; the rest exceeds the cap and is dropped. */
  write(samples: Int16Array): number;
  /** Drops queued audio; ends a pause. */
  clear(): void;
  /** Stops sending until called with false; queued audio is kept. */
  pause(paused: boolean): void;
  /** Takes back audio sent after this many samples since the last `clear`, as far as it is remembered. */
  rewind(playedSamples: number): void;
  start(): void;
  stop(): void;
  readonly queuedSamples: number;
  /** Samples played since the last `clear`. */
  readonly playedSamples: number;
}

export interface PlayoutOptions {
  sampleRateHz: number;
  /** Sample rate of the sent audio. @default sampleRateHz */
  wireHz?: number;
  chunkMs: number;
  maxQueuedMs: number;
  /**
   * How far the other side's buffer is kept ahead of real time, so that stalls of this process are not heard.
   * Without a lead it gets one chunk per interval.
   * @default 0
   */
  leadMs?: number;
  /** How much sent audio is remembered for `rewind`, in milliseconds. @default 0 */
  rewindMs?: number;
  /** Called at least once per interval; with `undefined` when there is no audio. */
  send(chunk: Int16Array | undefined): void;
  /** Called after the last queued sample was sent, and every `PROGRESS_MS` while playing. */
  progress?(): void;
  /** Called when the bot becomes audible or silent. */
  speaking?(speaking: boolean): void;
  onError?(error: unknown): void;
  /** @default the system clock */
  clock?: Pick<PacerOptions, "nowMs" | "setTimer">;
}

const PROGRESS_MS = 100; // how stale `queuedMs` may be
const PAUSE_MS = 240; // a shorter gap is a breath between words

export function createPlayout(options: PlayoutOptions): Playout {
  return new PacedPlayout(options);
}

class PacedPlayout implements Playout {
  readonly #options: PlayoutOptions;
  readonly #leadMs: number;
  readonly #wireHz: number;
  readonly #nowMs: () => number;
  readonly #chunkSamples: number;
  readonly #rewindChunks: number;
  readonly #queue: PlayoutQueue;
  readonly #toWire: Resampler;
  #playedBefore = 0;
  #speaking = false;
  #idleMs = 0;
  #unreportedMs = 0;
  #tailHeld = false;
  #isPaused = false;
  #sent: Int16Array[] = [];
  #heldUntilMs = -Infinity; // when the other side will have played everything sent
  #isUnfinished = false; // the resampler still holds the last samples
  readonly #pacer: Pacer;

  constructor(options: PlayoutOptions) {
    this.#options = options;
    this.#leadMs = options.leadMs ?? 0;
    this.#wireHz = options.wireHz ?? options.sampleRateHz;
    this.#nowMs = options.clock?.nowMs ?? (() => performance.now());
    this.#chunkSamples = samplesIn(options.chunkMs, options.sampleRateHz);
    this.#rewindChunks = Math.ceil((options.rewindMs ?? 0) / options.chunkMs);
    this.#queue = createPlayoutQueue({
      sampleRateHz: options.sampleRateHz,
      maxQueuedMs: options.maxQueuedMs,
    });
    this.#toWire = createResampler({ fromHz: options.sampleRateHz, toHz: this.#wireHz });
    this.#pacer = createPacer({
      intervalMs: options.chunkMs,
      tick: this.#leadMs > 0 ? this.#tickWithLead : this.#tickWithoutLead,
      onError: options.onError,
      ...options.clock,
    });
  }

  write(samples: Int16Array): number {
    return this.#queue.write(samples);
  }

  clear(): void {
    this.#queue.clear();
    this.#playedBefore = this.#queue.takenSamples;
    this.#sent = [];
    this.#isPaused = false;
    this.#idleMs = 0;
    this.#forgetSound();
    this.#setSpeaking(false);
  }

  pause(paused: boolean): void {
    this.#isPaused = paused;
    if (paused) this.#setSpeaking(false);
  }

  rewind(playedSamples: number): void {
    for (;;) {
      const last = this.#sent.at(-1);
      const beyond = this.#queue.takenSamples - this.#playedBefore - playedSamples;
      if (!last || beyond <= 0) break;
      this.#sent.pop();
      const kept = Math.max(0, last.length - beyond);
      if (kept > 0) this.#sent.push(last.slice(0, kept));
      this.#queue.putBack(last.subarray(kept));
    }
    this.#forgetSound();
  }

  start(): void {
    this.#pacer.start();
  }

  stop(): void {
    this.#pacer.stop();
    this.#setSpeaking(false);
  }

  get queuedSamples(): number {
    return this.#queue.queuedSamples;
  }

  get playedSamples(): number {
    return this.#queue.takenSamples - this.#playedBefore;
  }

  #setSpeaking(next: boolean): void {
    if (this.#speaking === next) return;
    this.#speaking = next;
    this.#options.speaking?.(next);
  }

  #remember(samples: Int16Array): void {
    this.#sent.push(samples);
    if (this.#sent.length > this.#rewindChunks) this.#sent.shift();
  }

  // Writers deliver uneven pieces: a short rest waits one interval for more before it is padded.
  #nextChunk(): Int16Array | undefined {
    if (this.#isPaused || this.#queue.queuedSamples === 0) return undefined;
    if (this.#queue.queuedSamples < this.#chunkSamples && !this.#tailHeld) {
      this.#tailHeld = true;
      return undefined;
    }
    this.#tailHeld = false;
    const before = this.#queue.takenSamples;
    const chunk = this.#queue.take(this.#chunkSamples);
    if (chunk && this.#rewindChunks > 0) this.#remember(chunk.slice(0, this.#queue.takenSamples - before));
    return chunk;
  }

  /** Returns false when there was nothing to send. */
  #sendNext(): boolean {
    const chunk = this.#nextChunk();
    if (!chunk) return false;
    this.#isUnfinished = true;
    if (this.#leadMs > 0) this.#heldUntilMs += this.#options.chunkMs;
    this.#options.send(this.#toWire.process(chunk));
    this.#idleMs = 0;
    this.#unreportedMs += this.#options.chunkMs;
    this.#setSpeaking(true);
    if (this.#queue.queuedSamples === 0 || this.#unreportedMs >= PROGRESS_MS) {
      this.#unreportedMs = 0;
      this.#options.progress?.();
    }
    return true;
  }

  /** Sends the samples the resampler holds back, padded with silence, while they still join the audio before. */
  #finish(): void {
    const rest = this.#toWire.flush();
    this.#isUnfinished = false;
    if (rest.every((sample) => sample === 0)) return;
    const chunk = new Int16Array(samplesIn(this.#options.chunkMs, this.#wireHz));
    chunk.set(rest);
    this.#heldUntilMs += this.#options.chunkMs;
    this.#options.send(chunk);
  }

  #idle(): void {
    this.#options.send(undefined);
    if (!this.#speaking || this.#queue.queuedSamples > 0) return;
    this.#idleMs += this.#options.chunkMs;
    if (this.#idleMs >= PAUSE_MS && this.#heldUntilMs <= this.#nowMs()) this.#setSpeaking(false);
  }

  /** Sends one chunk per interval: receivers detect late chunks by their times. */
  readonly #tickWithoutLead = (): void => {
    if (!this.#sendNext()) this.#idle();
  };

  /** Refills the other side's buffer, which a late tick has let run low. */
  readonly #tickWithLead = (): void => {
    const atMs = this.#nowMs();
    this.#heldUntilMs = Math.max(this.#heldUntilMs, atMs); // audio that was missing is not made up for
    let isIdle = true;
    // The limit for a second chunk is lower than for the first. With equal limits, a tick a millisecond late would
    // send two chunks and the next tick none, repeatedly.
    let limitMs = this.#leadMs + this.#options.chunkMs;
    while (this.#heldUntilMs - atMs < limitMs && this.#sendNext()) {
      isIdle = false;
      limitMs = this.#leadMs + this.#options.chunkMs / 2;
    }
    if (!isIdle) return;
    const runsDry = this.#heldUntilMs - atMs < 1.5 * this.#options.chunkMs;
    if (this.#isUnfinished && runsDry && !this.#isPaused && this.#queue.queuedSamples === 0) this.#finish();
    this.#idle();
  };

  #forgetSound(): void {
    this.#toWire.reset();
    this.#isUnfinished = false;
    this.#heldUntilMs = -Infinity;
    this.#tailHeld = false;
  }
}
