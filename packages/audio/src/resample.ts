/**
 * Converts a stream between sample rates, by a polyphase filter. Every piece of n samples gives
 * its n·toHz/fromHz samples at once; the sound comes half a filter late (2 ms from or to 8 kHz,
 * less at higher rates) and `flush` gives the rest. How the stream is cut into pieces makes no
 * difference. Equal rates pass through untouched, without a copy.
 */
export function createResampler(options: ResamplerOptions): Resampler {
  const { fromHz, toHz } = options;
  const filter = filterFor(fromHz, toHz);
  if (fromHz === toHz)
    return { process: (samples) => samples, flush: () => new Int16Array(0), reset: () => undefined };

  const { taps, up, down } = filter;
  const historySamples = taps - 1;
  let input = new Float64Array(historySamples); // what was there before, then the new samples
  let position = 0; // of the next output, relative to the next input sample
  let phase = 0;

  function process(samples: Int16Array): Int16Array {
    const needed = historySamples + samples.length;
    if (input.length < needed) input = grown(input, needed);
    input.set(samples, historySamples);
    const output = new Int16Array(Math.max(0, Math.ceil(((samples.length - position) * up - phase) / down)));
    for (let i = 0; i < output.length; i++) {
      output[i] = dot(filter, phase, input, position);
      phase += down;
      const steps = Math.floor(phase / up);
      phase -= steps * up;
      position += steps;
    }
    position -= samples.length;
    input.copyWithin(0, samples.length, needed);
    return output;
  }

  function flush(): Int16Array {
    const tail = process(new Int16Array(taps >> 1));
    reset();
    return tail;
  }

  function reset(): void {
    input.fill(0);
    position = 0;
    phase = 0;
  }

  return { process, flush, reset };
}

export interface ResamplerOptions {
  fromHz: number;
  toHz: number;
}

export interface Resampler {
  process(samples: Int16Array): Int16Array;
  /** The end of the sound. Afterwards the resampler is as new. */
  flush(): Int16Array;
  /** Forgets the sound so far: what follows has nothing to do with it. */
  reset(): void;
}

interface PolyphaseFilter {
  /** Rates in lowest terms: `up` outputs for `down` inputs. */
  up: number;
  down: number;
  /** Per phase. */
  taps: number;
  /** `up` rows of `taps`, in the order of the samples they are multiplied with. */
  coefficients: Float64Array;
}

const TAPS = 32; // at the lower of the two rates
const CUTOFF = 0.91; // of the lower Nyquist frequency; -6 dB there
const KAISER_BETA = 9; // -90 dB beyond 1.1 of the lower Nyquist frequency
// 1 MB. Every pair of common rates fits (11.025 to 32 kHz is the largest), 8001 to 8000 Hz does not.
const MAX_COEFFICIENTS = 131_072;

// Designing one costs milliseconds, and the same few pairs of rates come again and again.
const filters = new Map<string, PolyphaseFilter>();
const KEPT_FILTERS_MAX = 32;

function filterFor(fromHz: number, toHz: number): PolyphaseFilter {
  const pair = `${fromHz}:${toHz}`;
  const filter = filters.get(pair) ?? designFilter(fromHz, toHz);
  if (filters.size < KEPT_FILTERS_MAX) filters.set(pair, filter);
  return filter;
}

function designFilter(fromHz: number, toHz: number): PolyphaseFilter {
  for (const rate of [fromHz, toHz]) {
    if (!Number.isInteger(rate) || rate < 1) throw new RangeError(`${rate} Hz is not a sample rate`);
  }
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const taps = 2 * Math.ceil((TAPS / 2) * Math.max(1, down / up));
  if (taps * up > MAX_COEFFICIENTS) {
    throw new RangeError(`Cannot resample from ${fromHz} to ${toHz} Hz: their ratio is ${up}/${down}`);
  }
  const coefficients = new Float64Array(taps * up);
  for (let phase = 0; phase < up; phase++) {
    coefficients.set(
      phaseRow({ taps, cutoff: CUTOFF * Math.min(1, up / down), shift: phase / up }),
      phase * taps,
    );
  }
  return { up, down, taps, coefficients };
}

function phaseRow(options: { taps: number; cutoff: number; shift: number }): Float64Array {
  const { taps, cutoff, shift } = options;
  const row = new Float64Array(taps);
  for (let i = 0; i < taps; i++) {
    const x = taps / 2 - 1 - i + shift;
    const edge = (2 * x) / taps;
    row[i] = sinc(cutoff * x) * besselI0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - edge * edge)));
  }
  // Each phase passes a constant unchanged, or it would come out as a tone.
  const sum = row.reduce((total, value) => total + value, 0);
  return row.map((value) => value / sum);
}

function dot(filter: PolyphaseFilter, phase: number, input: Float64Array, start: number): number {
  const { taps, coefficients } = filter;
  const row = phase * taps;
  let sum = 0;
  for (let i = 0; i < taps; i++) sum += coefficients[row + i]! * input[start + i]!;
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)));
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function besselI0(x: number): number {
  let sum = 1;
  for (let k = 1, term = 1; term > sum * 1e-16; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function grown(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(array);
  return larger;
}
