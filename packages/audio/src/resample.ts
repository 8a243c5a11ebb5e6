import { createKernelConvolution } from "./kernel-convolution.ts";
import { filterFor, type PolyphaseFilter } from "./polyphase-filter.ts";
import { type Convolution, OUTPUT_MAX, PIECE_MAX, pieceMaxOf } from "./convolution.ts";

/**
 * Converts a stream between sample rates, by a polyphase filter. Every piece of n samples gives
 * its n·toHz/fromHz samples at once; the sound comes half a filter late (3 ms from or to 8 kHz,
 * less at higher rates) and `flush` gives the rest. How the stream is cut into pieces makes no
 * difference. Equal rates pass through untouched, without a copy.
 */
export function createResampler(options: ResamplerOptions): Resampler {
  const { fromHz, toHz } = options;
  const { filter, isKept } = filterFor(fromHz, toHz);
  if (fromHz === toHz)
    return { process: (samples) => samples, flush: () => new Int16Array(0), reset: () => undefined };

  const { taps, up, down } = filter;
  // A filter that is not kept would take the kernel's memory for ever.
  const convolution =
    (isKept ? createKernelConvolution(filter) : undefined) ?? createPlainConvolution(filter);
  const past = new Float32Array(taps - 1);
  let position = 0; // of the next output, relative to the next input sample
  let phase = 0;

  function outputsOf(samples: number): number {
    return Math.max(0, Math.ceil(((samples - position) * up - phase) / down));
  }

  function processPiece(samples: Int16Array, output: Int16Array, done: number): number {
    const { input } = convolution;
    const count = outputsOf(samples.length);
    input.set(past);
    input.set(samples, past.length);
    output.set(convolution.run({ position, phase, count }), done);
    past.set(input.subarray(samples.length, samples.length + past.length));
    const passed = phase + count * down;
    const steps = Math.floor(passed / up);
    phase = passed - steps * up;
    position += steps - samples.length;
    return done + count;
  }

  function process(samples: Int16Array): Int16Array {
    const output = new Int16Array(outputsOf(samples.length));
    const { pieceMax } = convolution;
    if (samples.length <= pieceMax) processPiece(samples, output, 0);
    else
      for (let at = 0, done = 0; at < samples.length; at += pieceMax)
        done = processPiece(samples.subarray(at, at + pieceMax), output, done);
    return output;
  }

  function flush(): Int16Array {
    const tail = process(new Int16Array(taps >> 1));
    reset();
    return tail;
  }

  function reset(): void {
    past.fill(0);
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

export function createPlainConvolution(filter: PolyphaseFilter): Convolution {
  const { up, down, taps } = filter;
  const input = new Float32Array(taps - 1 + PIECE_MAX);
  const output = new Int16Array(OUTPUT_MAX);
  return {
    input,
    pieceMax: pieceMaxOf(filter),
    run({ position, phase, count }) {
      let [at, row] = [position, phase];
      for (let i = 0; i < count; i++) {
        output[i] = dot(filter, row * taps, input, at);
        row += down;
        const steps = Math.floor(row / up);
        row -= steps * up;
        at += steps;
      }
      return output.subarray(0, count);
    },
  };
}

// Four sums, because each addition would wait for the one before.
function dot({ taps, coefficients }: PolyphaseFilter, row: number, input: Float32Array, at: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < taps; i += 4) {
    a += coefficients[row + i]! * input[at + i]!;
    b += coefficients[row + i + 1]! * input[at + i + 1]!;
    c += coefficients[row + i + 2]! * input[at + i + 2]!;
    d += coefficients[row + i + 3]! * input[at + i + 3]!;
  }
  return Math.max(-32_768, Math.min(32_767, Math.round(a + b + (c + d))));
}
