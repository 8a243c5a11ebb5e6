import { samplesIn } from "@vocalhost/audio";

/** What the bot said and nobody has heard yet. Beyond the cap the newest audio is dropped. */
export function createPlayoutQueue(options: PlayoutQueueOptions): PlayoutQueue {
  const maxSamples = samplesIn(options.maxQueuedMs, options.sampleRateHz);
  // Blocks of one size: tiny writes do not make a long list, and memory goes back when played.
  const blocks: Int16Array[] = [];
  let spare: Int16Array | undefined; // the last one emptied: a bot that speaks as it goes needs one again and again
  let readOffset = 0; // in the first block
  let queuedSamples = 0; // in the blocks
  let front = new Int16Array(0); // put back, comes before them
  let writtenSamples = 0;
  let takenSamples = 0;
  let clearedSamples = 0;

  function append(samples: Int16Array): void {
    for (let done = 0; done < samples.length;) {
      const writeOffset = (readOffset + queuedSamples) % BLOCK_SAMPLES;
      if (writeOffset === 0 || blocks.length === 0) {
        blocks.push(spare ?? new Int16Array(BLOCK_SAMPLES));
        spare = undefined;
      }
      const part = samples.subarray(done, done + BLOCK_SAMPLES - writeOffset);
      blocks.at(-1)!.set(part, writeOffset);
      queuedSamples += part.length;
      done += part.length;
    }
  }

  function readInto(target: Int16Array): number {
    let done = Math.min(front.length, target.length);
    target.set(front.subarray(0, done));
    front = front.subarray(done);
    while (done < target.length && queuedSamples > 0) {
      const available = Math.min(BLOCK_SAMPLES - readOffset, queuedSamples, target.length - done);
      target.set(blocks[0]!.subarray(readOffset, readOffset + available), done);
      done += available;
      readOffset += available;
      queuedSamples -= available;
      if (readOffset === BLOCK_SAMPLES || queuedSamples === 0) {
        spare = blocks.shift();
        readOffset = 0;
      }
    }
    return done;
  }

  return {
    write(samples) {
      const accepted = samples.subarray(0, Math.max(0, maxSamples - queuedSamples - front.length));
      append(accepted);
      writtenSamples += accepted.length;
      return accepted.length;
    },
    take(samplesWanted) {
      if (queuedSamples + front.length === 0) return undefined;
      const samples = new Int16Array(samplesWanted);
      takenSamples += readInto(samples);
      return samples;
    },
    putBack(samples) {
      const joined = new Int16Array(samples.length + front.length);
      joined.set(samples);
      joined.set(front, samples.length);
      front = joined;
      takenSamples -= samples.length;
    },
    clear() {
      const thrownAway = queuedSamples + front.length;
      front = new Int16Array(0);
      spare ??= blocks[0];
      blocks.length = 0;
      readOffset = 0;
      queuedSamples = 0;
      clearedSamples += thrownAway;
      return thrownAway;
    },
    get queuedSamples() {
      return queuedSamples + front.length;
    },
    get writtenSamples() {
      return writtenSamples;
    },
    get takenSamples() {
      return takenSamples;
    },
    get clearedSamples() {
      return clearedSamples;
    },
  };
}

export interface PlayoutQueueOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
}

/** At any time `writtenSamples` is `takenSamples` + `clearedSamples` + `queuedSamples`. */
export interface PlayoutQueue {
  /** Copies the samples and says how many fitted; the rest is dropped. */
  write(samples: Int16Array): number;
  /** Exactly as many as wanted, silence after the last; undefined when nothing is queued. */
  take(samplesWanted: number): Int16Array | undefined;
  /** The next to be taken: samples that were taken and not used after all. */
  putBack(samples: Int16Array): void;
  /** Says how many samples were thrown away. */
  clear(): number;
  readonly queuedSamples: number;
  /** Accepted since the beginning. */
  readonly writtenSamples: number;
  /** Taken since the beginning and not put back, without the silence added at the end. */
  readonly takenSamples: number;
  /** Thrown away by `clear` since the beginning. */
  readonly clearedSamples: number;
}

const BLOCK_SAMPLES = 4096;
