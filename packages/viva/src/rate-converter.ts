/** Zero crossings of the filter on each side: the longer, the sharper and the later. */
const CROSSINGS = 12;
/** Part of the lower rate's band that passes. */
const PASSED = 0.92;

/** Changes the rate of a stream by a fixed ratio. The output does not depend on how the input is split. */
export class RateConverter {
  /** How much later, in samples of the input, the output is. */
  readonly delaySamples: number;
  readonly #up: number;
  readonly #down: number;
  readonly #taps: number;
  /** A filter for each place the output can have between two samples of the input. */
  readonly #filters: Float32Array;
  /** Written twice, a filter's length apart, so that any stretch of it can be read in a row. */
  readonly #history: Float32Array;
  #newest = 0;
  /** Where the next output lies after the newest input, in parts of `up`. */
  #next = 0;

  constructor(fromHz: number, toHz: number) {
    const common = greatestCommonDivisor(fromHz, toHz);
    this.#up = toHz / common;
    this.#down = fromHz / common;
    const widening = Math.max(1, fromHz / toHz);
    const half = Math.ceil(CROSSINGS * widening);
    this.#taps = 2 * half;
    this.delaySamples = half - 1;
    this.#filters = makeFilters(this.#up, half, PASSED / widening);
    this.#history = new Float32Array(2 * this.#taps);
  }

  /** The most samples that come out when this many go in. */
  outputMax(inputCount: number): number {
    return Math.ceil((inputCount * this.#up) / this.#down) + 1;
  }

  /** Takes `count` samples and writes what is ready to `output`, which must be long enough; says how many. */
  convert(input: Int16Array, count: number, output: Int16Array): number {
    let written = 0;
    for (let index = 0; index < count; index += 1) {
      const sample = input[index] ?? 0;
      this.#newest = this.#newest === 0 ? this.#taps - 1 : this.#newest - 1;
      this.#history[this.#newest] = sample;
      this.#history[this.#newest + this.#taps] = sample;
      for (; this.#next < this.#up; this.#next += this.#down) {
        output[written] = this.#filtered(this.#next);
        written += 1;
      }
      this.#next -= this.#up;
    }
    return written;
  }

  #filtered(place: number): number {
    const taps = this.#taps;
    const start = place * taps;
    const newest = this.#newest;
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1)
      sum += (this.#filters[start + tap] ?? 0) * (this.#history[newest + tap] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
}

/** Windowed sinc: of every place its taps, the newest sample first. */
function makeFilters(places: number, half: number, passed: number): Float32Array {
  const taps = 2 * half;
  const filters = new Float32Array(places * taps);
  for (let place = 0; place < places; place += 1) {
    const filter = filters.subarray(place * taps, (place + 1) * taps);
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const distance = tap - (half - 1) + place / places;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / half);
      const angle = Math.PI * passed * distance;
      const value = (distance === 0 ? 1 : Math.sin(angle) / angle) * Math.max(0, window);
      filter[tap] = value;
      sum += value;
    }
    for (let tap = 0; tap < taps; tap += 1) filter[tap] = (filter[tap] ?? 0) / sum;
  }
  return filters;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
