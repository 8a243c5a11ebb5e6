/** Tells when a signal begins and ceases to carry sound, above its own background noise. */
export class SoundDetector {
  readonly #threshold: number;
  readonly #hangoverMs: number;
  #floor = 0;
  #sounding = false;
  #lastSoundMs = 0;

  constructor({ threshold, hangoverMs }: { threshold: number; hangoverMs: number }) {
    this.#threshold = threshold;
    this.#hangoverMs = hangoverMs;
  }

  /** `stopped` is reported late, when the pause is certain; its time is that of the last sound. */
  feed(loudness: number, atMs: number): { change: "started" | "stopped"; atMs: number } | undefined {
    const isSound = loudness > Math.max(this.#threshold, this.#floor * FLOOR_FACTOR);
    const pull = loudness < this.#floor ? FLOOR_FALL : FLOOR_RISE;
    this.#floor += (Math.min(loudness, FLOOR_MAX) - this.#floor) * pull;
    if (isSound) {
      this.#lastSoundMs = atMs;
      if (this.#sounding) return undefined;
      this.#sounding = true;
      return { change: "started", atMs };
    }
    if (!this.#sounding || atMs - this.#lastSoundMs < this.#hangoverMs) return undefined;
    this.#sounding = false;
    return { change: "stopped", atMs: this.#lastSoundMs };
  }

  /** After a time of not listening nothing can be said about beginnings and ends. */
  forget(): void {
    this.#sounding = false;
  }
}

const FLOOR_FACTOR = 3;
const FLOOR_MAX = 0.02; // a long loud voice must not pass for noise
const FLOOR_FALL = 0.2;
const FLOOR_RISE = 0.002;
