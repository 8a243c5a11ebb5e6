/** A low-pass filter in as many copies as there are places of an output between two inputs. */
export interface PolyphaseFilter {
  /** Rates in lowest terms: `up` outputs for `down` inputs. */
  up: number;
  down: number;
  /** Per phase, a multiple of four. */
  taps: number;
  /** `up` rows of `taps`, in the order of the samples they are multiplied with. */
  coefficients: Float32Array;
}

// Relative to the Nyquist frequency of the lower rate, the filter is flat to 0.875 (7 of 8 kHz), -6 dB at 1, and -85
// dB beyond 1.125.
const TAPS = 48;
const CUTOFF = 1;
const KAISER_BETA = 8.8;
// 512 KB. Every pair of common rates fits (11.025 to 32 kHz is the largest), 8001 to 8000 Hz does not.
const MAX_COEFFICIENTS = 131_072;

// Designing one costs milliseconds, and the same few pairs of rates come again and again.
const filters = new Map<string, PolyphaseFilter>();
const KEPT_FILTERS_MAX = 32;

/** One object for each pair of rates, as long as there are not too many of them. */
export function filterFor(fromHz: number, toHz: number): { filter: PolyphaseFilter; isKept: boolean } {
  const pair = `${fromHz}:${toHz}`;
  const filter = filters.get(pair) ?? designFilter(fromHz, toHz);
  if (filters.size < KEPT_FILTERS_MAX) filters.set(pair, filter);
  return { filter, isKept: filters.has(pair) };
}

function designFilter(fromHz: number, toHz: number): PolyphaseFilter {
  for (const rate of [fromHz, toHz]) {
    if (!Number.isInteger(rate) || rate < 1) throw new RangeError(`${rate} Hz is not a sample rate`);
  }
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const taps = 4 * Math.ceil((TAPS / 4) * Math.max(1, down / up));
  if (taps * up > MAX_COEFFICIENTS) {
    throw new RangeError(`Cannot resample from ${fromHz} to ${toHz} Hz: their ratio is ${up}/${down}`);
  }
  const coefficients = new Float32Array(taps * up);
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
