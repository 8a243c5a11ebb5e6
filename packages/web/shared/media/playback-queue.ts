const START_MS = 60; // a chunk and a half of a paced server in hand before sounding
const START_MAX_MS = 200;
const START_GROWTH_MS = 20;
const SAME_VOICE_MS = 300; // running dry and going on this soon was a gap, not a pause
const QUEUE_MAX_MS = 120_000; // a server that does not pace may send a whole answer at once
const RAMP_SAMPLES = 64; // no click when sound starts or breaks off

/** Turns chunks that arrive unevenly into an even stream. Time is counted in samples played. */
export class PlaybackQueue {
  readonly #samplesPerMs: number;
  #chunks: Float32Array[] = [];
  #offset = 0;
  #length = 0;
  #playing = false;
  #played = 0;
  #filledAt = 0;
  #driedAt = Number.NEGATIVE_INFINITY;
  #startMs = START_MS;
  #ramp = 0;
  #last = 0;
  #gaps = 0;
  #cleared = false;

  constructor({ sampleRateHz }: { sampleRateHz: number }) {
    this.#samplesPerMs = sampleRateHz / 1000;
  }

  get bufferedMs(): number {
    return this.#length / this.#samplesPerMs;
  }

  /** Times the sound broke off in the middle. */
  get gaps(): number {
    return this.#gaps;
  }

  push(chunk: Float32Array): void {
    if (chunk.length === 0 || this.bufferedMs > QUEUE_MAX_MS) return;
    if (this.#length === 0 && !this.#playing) {
      this.#filledAt = this.#played;
      if (this.#played - this.#driedAt < SAME_VOICE_MS * this.#samplesPerMs) {
        this.#gaps++;
        this.#startMs = Math.min(START_MAX_MS, this.#startMs + START_GROWTH_MS);
      }
    }
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Fills the block; returns false when it holds only silence. */
  pull(block: Float32Array): boolean {
    block.fill(0);
    this.#played += block.length;
    if (!this.#playing && this.#mayStart()) {
      this.#playing = true;
      this.#ramp = 0;
    }
    if (!this.#playing) return false;
    const filled = this.#copyInto(block);
    for (let index = 0; index < filled && this.#ramp < RAMP_SAMPLES; index++) {
      block[index] = (block[index] ?? 0) * (++this.#ramp / RAMP_SAMPLES);
    }
    if (filled > 0) this.#last = block[filled - 1] ?? 0;
    if (filled < block.length) this.#runDry(block, filled);
    return true;
  }

  /** Forgets what has not been played. */
  clear(): void {
    this.#chunks = [];
    this.#offset = 0;
    this.#length = 0;
    this.#cleared = true;
  }

  #mayStart(): boolean {
    if (this.#length === 0) return false;
    const waitedMs = (this.#played - this.#filledAt) / this.#samplesPerMs;
    // Waiting is bounded too, or the last short chunk of an answer would never sound.
    return this.bufferedMs >= this.#startMs || waitedMs >= this.#startMs;
  }

  #copyInto(block: Float32Array): number {
    let filled = 0;
    while (filled < block.length) {
      const chunk = this.#chunks[0];
      if (!chunk) break;
      const part = chunk.subarray(this.#offset, this.#offset + block.length - filled);
      block.set(part, filled);
      filled += part.length;
      this.#offset += part.length;
      if (this.#offset === chunk.length) {
        this.#chunks.shift();
        this.#offset = 0;
      }
    }
    this.#length -= filled;
    return filled;
  }

  #runDry(block: Float32Array, from: number): void {
    const end = Math.min(block.length, from + RAMP_SAMPLES);
    for (let index = from; index < end; index++) {
      block[index] = this.#last * (1 - (index - from + 1) / RAMP_SAMPLES);
    }
    this.#playing = false;
    this.#driedAt = this.#cleared ? Number.NEGATIVE_INFINITY : this.#played;
    this.#cleared = false;
  }
}
