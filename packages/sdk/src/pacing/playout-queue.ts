import { samplesIn } from "@vocalhost/audio";

/** The bot's audio that was not played yet. Beyond the cap the newest audio is dropped. */
export function createPlayoutQueue(options: PlayoutQueueOptions): PlayoutQueue {
  return new BlockQueue(options);
}

class BlockQueue implements PlayoutQueue {
  readonly #maxSamples: number;
  // Blocks of one size: tiny writes do not make a long list, and played memory is released.
  readonly #blocks: Int16Array[] = [];
  #spare: Int16Array | undefined; // the last emptied block, reused by a bot that writes continuously
  #readOffset = 0; // in the first block
  #queuedSamples = 0; // in the blocks
  #front = new Int16Array(0); // samples put back, which come before the blocks
  #writtenSamples = 0;
  #takenSamples = 0;
  #clearedSamples = 0;

  constructor(options: PlayoutQueueOptions) {
    this.#maxSamples = samplesIn(options.maxQueuedMs, options.sampleRateHz);
  }

  write(samples: Int16Array): number {
    const accepted = samples.subarray(
      0,
      Math.max(0, this.#maxSamples - this.#queuedSamples - this.#front.length),
    );
    this.#append(accepted);
    this.#writtenSamples += accepted.length;
    return accepted.length;
  }

  take(samplesWanted: number): Int16Array | undefined {
    if (this.#queuedSamples + this.#front.length === 0) return undefined;
    const samples = new Int16Array(samplesWanted);
    this.#takenSamples += this.#readInto(samples);
    return samples;
  }

  putBack(samples: Int16Array): void {
    const joined = new Int16Array(samples.length + this.#front.length);
    joined.set(samples);
    joined.set(this.#front, samples.length);
    this.#front = joined;
    this.#takenSamples -= samples.length;
  }

  clear(): number {
    const thrownAway = this.#queuedSamples + this.#front.length;
    this.#front = new Int16Array(0);
    this.#spare ??= this.#blocks[0];
    this.#blocks.length = 0;
    this.#readOffset = 0;
    this.#queuedSamples = 0;
    this.#clearedSamples += thrownAway;
    return thrownAway;
  }

  get queuedSamples(): number {
    return this.#queuedSamples + this.#front.length;
  }

  get writtenSamples(): number {
    return this.#writtenSamples;
  }

  get takenSamples(): number {
    return this.#takenSamples;
  }

  get clearedSamples(): number {
    return this.#clearedSamples;
  }

  #append(samples: Int16Array): void {
    for (let done = 0; done < samples.length;) {
      const writeOffset = (this.#readOffset + this.#queuedSamples) % BLOCK_SAMPLES;
      if (writeOffset === 0 || this.#blocks.length === 0) {
        this.#blocks.push(this.#spare ?? new Int16Array(BLOCK_SAMPLES));
        this.#spare = undefined;
      }
      const part = samples.subarray(done, done + BLOCK_SAMPLES - writeOffset);
      this.#blocks.at(-1)!.set(part, writeOffset);
      this.#queuedSamples += part.length;
      done += part.length;
    }
  }

  #readInto(target: Int16Array): number {
    let done = Math.min(this.#front.length, target.length);
    target.set(this.#front.subarray(0, done));
    this.#front = this.#front.subarray(done);
    while (done < target.length && this.#queuedSamples > 0) {
      const available = Math.min(BLOCK_SAMPLES - this.#readOffset, this.#queuedSamples, target.length - done);
      target.set(this.#blocks[0]!.subarray(this.#readOffset, this.#readOffset + available), done);
      done += available;
      this.#readOffset += available;
      this.#queuedSamples -= available;
      if (this.#readOffset === BLOCK_SAMPLES || this.#queuedSamples === 0) {
        this.#spare = this.#blocks.shift();
        this.#readOffset = 0;
      }
    }
    return done;
  }
}

export interface PlayoutQueueOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
}

/** At any time `writtenSamples` is `takenSamples` + `clearedSamples` + `queuedSamples`. */
export interface PlayoutQueue {
  /** Copies the samples and returns how many fitted; the rest is dropped. */
  write(samples: Int16Array): number;
  /** Returns exactly this many samples, padded with silence at the end; undefined when nothing is queued. */
  take(samplesWanted: number): Int16Array | undefined;
  /** Puts back samples that were taken and not used; they are taken next. */
  putBack(samples: Int16Array): void;
  /** Drops all samples and returns how many there were. */
  clear(): number;
  readonly queuedSamples: number;
  /** Accepted since the beginning. */
  readonly writtenSamples: number;
  /** Taken since the beginning and not put back, without the padding. */
  readonly takenSamples: number;
  /** Dropped by `clear` since the beginning. */
  readonly clearedSamples: number;
}

const BLOCK_SAMPLES = 4096;
