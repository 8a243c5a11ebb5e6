import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { size } from "../../../testing/sizes.ts";
import { compileKernel } from "../build-kernel.ts";
import { KERNEL_BASE64 } from "./kernel-bytes.ts";
import { createKernelConvolution } from "./kernel-convolution.ts";
import { createPlainConvolution, createResampler } from "./resample.ts";
import { filterFor } from "./polyphase-filter.ts";

const RATES_HZ = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const AMPLITUDE = 26_000;
const PASSED = 0.875; // of the lower Nyquist frequency
const pairs = RATES_HZ.flatMap((fromHz) => RATES_HZ.map((toHz) => ({ fromHz, toHz }))).filter(
  ({ fromHz, toHz }) => fromHz !== toHz,
);

test("a tone keeps 85 dB over noise and images, between any two common rates", () => {
  for (const pair of pairs) {
    for (const toneHz of [1000, 0.6 * lowerNyquist(pair), PASSED * lowerNyquist(pair)]) {
      const { noiseDb } = measure(steadyTone(toneHz, pair), toneHz, pair.toHz);
      assert.ok(noiseDb <= -85, `${pair.fromHz} to ${pair.toHz}, ${toneHz} Hz: ${noiseDb} dB`);
    }
  }
});

test("what the lower rate cannot carry is 85 dB down", () => {
  for (const pair of pairs) {
    for (const relative of [2 - PASSED, 1.3, 1.7]) {
      const toneHz = (relative * pair.toHz) / 2;
      if (toneHz >= pair.fromHz / 2) continue;
      const leftDb = decibels(rms(steadyTone(toneHz, pair)) / (AMPLITUDE / Math.SQRT2));
      assert.ok(leftDb <= -85, `${pair.fromHz} to ${pair.toHz}, ${toneHz} Hz: ${leftDb} dB`);
    }
  }
});

test("gain is flat up to seven eighths of the band: 7 kHz of 16", () => {
  for (const pair of pairs) {
    for (const relative of [0.1, 0.5, 0.75, PASSED]) {
      const toneHz = relative * lowerNyquist(pair);
      const gainDb = decibels(measure(steadyTone(toneHz, pair), toneHz, pair.toHz).amplitude / AMPLITUDE);
      assert.ok(Math.abs(gainDb) < 0.05, `${pair.fromHz} to ${pair.toHz}, ${toneHz} Hz: ${gainDb} dB`);
    }
  }
});

test("after a reset nothing is left of the sound before", () => {
  for (const pair of pairs) {
    const [used, fresh] = [createResampler(pair), createResampler(pair)];
    used.process(new Int16Array(333).fill(20_000));
    used.reset();
    const silence = new Int16Array(500);
    assert.deepEqual(used.process(silence), fresh.process(silence));
  }
});

test("how the stream is cut makes no difference", () => {
  const anyPair = fc.constantFrom(...pairs, { fromHz: 8000, toHz: 8000 });
  const anySamples = fc.int16Array({ minLength: 0, maxLength: 1500 });
  fc.assert(
    fc.property(anyPair, anySamples, fc.array(fc.nat(300), { maxLength: 20 }), (pair, samples, cuts) => {
      assert.deepEqual(resampleInPieces(pair, samples, cuts), resampleInPieces(pair, samples, []));
    }),
    { numRuns: size(50, 200) },
  );
});

test("every 20 ms in are 20 ms out, at once", () => {
  for (const { fromHz, toHz } of pairs.filter((pair) => pair.fromHz % 50 === 0 && pair.toHz % 50 === 0)) {
    const resampler = createResampler({ fromHz, toHz });
    for (let i = 0; i < 5; i++) {
      assert.equal(resampler.process(new Int16Array(fromHz / 50)).length, toHz / 50);
    }
  }
});

test("flush gives the end of the sound and starts anew", () => {
  const resampler = createResampler({ fromHz: 8000, toHz: 16_000 });
  const click = new Int16Array(8000);
  click[7999] = 20_000;
  const first = [resampler.process(click), resampler.flush()] as const;
  assert.equal(first[0].length, 16_000);
  assert.equal(first[1].length, 48);
  assert.ok(first[1].some((sample) => sample > 15_000));
  assert.deepEqual([resampler.process(click), resampler.flush()], first);
});

test("loud input is clipped, not wrapped", () => {
  const square = Int16Array.from({ length: 800 }, (_, i) => (i % 20 < 10 ? 32_767 : -32_768));
  const output = createResampler({ fromHz: 8000, toHz: 48_000 }).process(square);
  assert.ok(output.includes(32_767) && output.includes(-32_768));
  for (let i = 1; i < output.length; i++) assert.ok(Math.abs(output[i]! - output[i - 1]!) < 40_000);
});

test("equal rates pass the same array through", () => {
  const resampler = createResampler({ fromHz: 16_000, toHz: 16_000 });
  const samples = Int16Array.of(1, 2, 3);
  assert.equal(resampler.process(samples), samples);
  assert.equal(resampler.flush().length, 0);
});

test("rates that make no sense are refused", () => {
  const refused = [
    [8001, 8000, /8001 to 8000 Hz: their ratio is 8000\/8001/],
    [48_000, 1, /48000 to 1 Hz/],
    [0, 8000, /0 Hz is not a sample rate/],
    [-8000, 8000, /-8000 Hz/],
    [16_000, 22_050.5, /22050.5 Hz/],
    [Number.NaN, 8000, /NaN Hz/],
  ] as const;
  for (const [fromHz, toHz, message] of refused) {
    assert.throws(() => createResampler({ fromHz, toHz }), { name: "RangeError", message });
  }
});

test("with vectors or without, the sound is the same", () => {
  for (const pair of pairs) {
    const { filter } = filterFor(pair.fromHz, pair.toHz);
    const [vectors, plain] = [createKernelConvolution(filter), createPlainConvolution(filter)];
    assert.ok(vectors, "Node has vectors");
    const [one, other] = [vectors, plain].map((convolution) => {
      convolution.input.forEach((_, at, input) => (input[at] = Math.round(30_000 * Math.sin(at * at))));
      return convolution.run({ position: 3, phase: filter.up - 1, count: 200 }).slice();
    });
    one?.forEach((sample, at) => assert.ok(Math.abs(sample - (other?.[at] ?? 0)) <= 1));
  }
});

test("long recordings are one stream too", () => {
  const recording = Int16Array.from({ length: 10_000 }, (_, at) => Math.round(9_000 * Math.sin(at / 3)));
  for (const pair of [
    { fromHz: 8000, toHz: 48_000 },
    { fromHz: 48_000, toHz: 8000 },
  ])
    assert.deepEqual(
      resampleInPieces(pair, recording, []),
      resampleInPieces(pair, recording, Array(100).fill(100)),
    );
});

test(
  "the kernel that ships is what its source compiles to",
  { skip: size<string | false>("installs a compiler; in the long run", false) },
  () => assert.equal(KERNEL_BASE64, compileKernel(), "run node packages/audio/build-kernel.ts"),
);

interface Rates {
  fromHz: number;
  toHz: number;
}

function resampleInPieces(rates: Rates, samples: Int16Array, cuts: number[]): number[] {
  const resampler = createResampler(rates);
  const output: number[] = [];
  let done = 0;
  for (const length of [...cuts, samples.length]) {
    output.push(...resampler.process(samples.subarray(done, done + length)));
    done = Math.min(samples.length, done + length);
  }
  return [...output, ...resampler.flush()];
}

function lowerNyquist({ fromHz, toHz }: Rates): number {
  return Math.min(fromHz, toHz) / 2;
}

/** Half a second of a resampled tone, without its beginning. */
function steadyTone(toneHz: number, { fromHz, toHz }: Rates): Int16Array {
  const input = Int16Array.from({ length: fromHz * 0.6 }, (_, i) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * toneHz * i) / fromHz)),
  );
  return createResampler({ fromHz, toHz })
    .process(input)
    .subarray(toHz * 0.1);
}

/** The least-squares sine of that frequency, and what is left without it. */
function measure(
  samples: Int16Array,
  toneHz: number,
  rateHz: number,
): { amplitude: number; noiseDb: number } {
  const step = (2 * Math.PI * toneHz) / rateHz;
  let [ss, cc, sc, ys, yc] = [0, 0, 0, 0, 0];
  samples.forEach((y, i) => {
    const [s, c] = [Math.sin(step * i), Math.cos(step * i)];
    ss += s * s;
    cc += c * c;
    sc += s * c;
    ys += y * s;
    yc += y * c;
  });
  const determinant = ss * cc - sc * sc;
  const a = (ys * cc - yc * sc) / determinant;
  const b = (yc * ss - ys * sc) / determinant;
  const rest = Float64Array.from(samples, (y, i) => y - a * Math.sin(step * i) - b * Math.cos(step * i));
  const amplitude = Math.hypot(a, b);
  return { amplitude, noiseDb: decibels(rms(rest) / (amplitude / Math.SQRT2)) };
}

function rms(values: Int16Array | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum / values.length);
}

function decibels(ratio: number): number {
  return 20 * Math.log10(ratio);
}
