import type { Kernel } from "./kernel.ts";

/** A session of the kernel at one of its own rates: samples of any number go in, whole steps come out. */
export class StepStream {
  readonly hop: number;
  steps = 0;
  readonly #kernel: Kernel;
  readonly #session: number;
  readonly #sampleRateHz: number;
  readonly #pending: Int16Array;
  #pendingCount = 0;

  constructor(kernel: Kernel, sampleRateHz: number) {
    this.#kernel = kernel;
    this.#sampleRateHz = sampleRateHz;
    this.hop = sampleRateHz / 100;
    this.#session = kernel.openSession(sampleRateHz);
    this.#pending = new Int16Array(this.hop);
  }

  get pendingCount(): number {
    return this.#pendingCount;
  }

  get nearFrames(): number {
    return this.#kernel.exports.nearFrames(this.#session);
  }

  get energyIn(): number {
    return this.#kernel.exports.energyIn(this.#session);
  }

  get energyOut(): number {
    return this.#kernel.exports.energyOut(this.#session);
  }

  /** Writes what is ready to `output`, which has room for the input and a step; says how many samples. */
  process(input: Int16Array, count: number, output: Int16Array): number {
    let written = 0;
    for (let index = 0; index < count; index += 1) {
      this.#pending[this.#pendingCount] = input[index] ?? 0;
      this.#pendingCount += 1;
      if (this.#pendingCount < this.hop) continue;
      this.#step(output, written);
      written += this.hop;
      this.#pendingCount = 0;
    }
    return written;
  }

  close(): void {
    this.#kernel.closeSession(this.#session, this.#sampleRateHz);
  }

  #step(output: Int16Array, offset: number): void {
    const { input: heard, output: said, exports } = this.#kernel;
    for (let index = 0; index < this.hop; index += 1) heard[index] = this.#pending[index] ?? 0;
    exports.step(this.#session);
    for (let index = 0; index < this.hop; index += 1) output[offset + index] = said[index] ?? 0;
    this.steps += 1;
  }
}
