const HALF_WIDTH = 12; // lobes of the sinc on each side: about 60 dB of rejection
const PHASES = 128;

/** Changes the rate of a mono stream, block by block, without clicks between blocks. */
export class Resampler {
  readonly #step: number;
  readonly #reach: number;
  readonly #kernel: Float32Array;
  #pending: Float32Array;
  #position: number;

  constructor({ fromHz, toHz }: { fromHz: number; toHz: number }) {
    this.#step = fromHz / toHz;
    const cutoff = Math.min(1, toHz / fromHz) * 0.92; // leave room for the slope below Nyquist
    this.#reach = Math.ceil(HALF_WIDTH / cutoff);
    this.#kernel = toKernel(this.#reach, cutoff);
    this.#pending = new Float32Array(this.#reach);
    this.#position = this.#reach;
  }

  push(block: Float32Array): Float32Array {
    const input = new Float32Array(this.#pending.length + block.length);
    input.set(this.#pending);
    input.set(block, this.#pending.length);
    const count = Math.max(0, Math.ceil((input.length - this.#reach - this.#position) / this.#step));
    const output = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      output[index] = this.#at(input, this.#position);
      this.#position += this.#step;
    }
    const consumed = Math.max(0, Math.floor(this.#position) - this.#reach);
    this.#pending = input.slice(consumed);
    this.#position -= consumed;
    return output;
  }

  #at(input: Float32Array, position: number): number {
    const whole = Math.floor(position);
    const taps = this.#reach * 2;
    const row = Math.floor((position - whole) * PHASES) * taps;
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const sample = input[whole - this.#reach + 1 + tap] ?? 0;
      sum += sample * (this.#kernel[row + tap] ?? 0);
    }
    return sum;
  }
}

/** One row of weights per fraction of a sample; each row sums to one. */
function toKernel(reach: number, cutoff: number): Float32Array {
  const taps = reach * 2;
  const kernel = new Float32Array(PHASES * taps);
  for (let phase = 0; phase < PHASES; phase++) {
    const row = kernel.subarray(phase * taps, (phase + 1) * taps);
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - reach + 1 - phase / PHASES;
      const weight = sinc(distance * cutoff) * hann(distance / reach);
      row[tap] = weight;
      sum += weight;
    }
    for (let tap = 0; tap < taps; tap++) row[tap] = (row[tap] ?? 0) / sum;
  }
  return kernel;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function hann(x: number): number {
  return Math.abs(x) >= 1 ? 0 : 0.5 + 0.5 * Math.cos(Math.PI * x);
}
