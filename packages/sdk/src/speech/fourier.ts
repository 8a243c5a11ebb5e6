/** Creates a Fourier transform of a fixed length, composed of its prime factors; 2, 3 and 5 are fast. */
export function createFourier(length: number): Fourier {
  const cosines = Float64Array.from({ length }, (_, at) => Math.cos((2 * Math.PI * at) / length));
  const sines = Float64Array.from({ length }, (_, at) => -Math.sin((2 * Math.PI * at) / length));
  const factors = factorsOf(length);
  const scratch: Complex = { real: new Float64Array(length), imaginary: new Float64Array(length) };

  /** Transforms every `stride`th value from `from` into `size` values from `to`. */
  function step(input: Complex, output: Complex, at: Step): void {
    const { depth, from, stride, to, size } = at;
    const factor = factors[depth];
    if (factor === undefined) {
      output.real[to] = input.real[from]!;
      output.imaginary[to] = input.imaginary[from]!;
      return;
    }
    const part = size / factor;
    for (let index = 0; index < factor; index += 1)
      step(input, output, {
        depth: depth + 1,
        from: from + index * stride,
        stride: stride * factor,
        to: to + index * part,
        size: part,
      });
    combine(output, to, { factor, part, turn: length / size });
  }

  function combine(values: Complex, to: number, by: { factor: number; part: number; turn: number }): void {
    const { factor, part, turn } = by;
    const { real, imaginary } = values;
    for (let low = 0; low < part; low += 1) {
      for (let high = 0; high < factor; high += 1) {
        const bin = low + high * part;
        let sumReal = 0;
        let sumImaginary = 0;
        let angle = 0;
        const turned = (bin * turn) % length;
        for (let index = 0, source = to + low; index < factor; index += 1, source += part) {
          const cosine = cosines[angle]!;
          const sine = sines[angle]!;
          sumReal += real[source]! * cosine - imaginary[source]! * sine;
          sumImaginary += real[source]! * sine + imaginary[source]! * cosine;
          angle += turned;
          if (angle >= length) angle -= length;
        }
        scratch.real[high] = sumReal;
        scratch.imaginary[high] = sumImaginary;
      }
      for (let high = 0; high < factor; high += 1) {
        real[to + low + high * part] = scratch.real[high]!;
        imaginary[to + low + high * part] = scratch.imaginary[high]!;
      }
    }
  }

  return (input, output) => step(input, output, { depth: 0, from: 0, stride: 1, to: 0, size: length });
}

export type Fourier = (input: Complex, output: Complex) => void;

export interface Complex {
  real: Float64Array;
  imaginary: Float64Array;
}

interface Step {
  depth: number;
  from: number;
  stride: number;
  to: number;
  size: number;
}

function factorsOf(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  for (let factor = 2; rest > 1; factor += 1)
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  return factors;
}
