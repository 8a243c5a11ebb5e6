import { OUTPUT_MAX, PIECE_MAX, pieceMaxOf, type Convolution } from "./convolution.ts";
import type { PolyphaseFilter } from "./polyphase-filter.ts";

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
