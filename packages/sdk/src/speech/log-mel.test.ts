import { parseWav } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createFourier } from "./fourier.ts";
import { BANDS, FRAMES, logMel } from "./log-mel.ts";

const { samples } = parseWav(readFileSync(new URL("fixtures/table-for-two.wav", import.meta.url)));

// From the feature extractor that came with the model, in Python.
const EXPECTED: [band: number, frame: number, value: number][] = [
  [0, 0, 0.3708],
  [0, 799, 0.3684],
  [10, 500, -0.1372],
  [20, 600, 0.4582],
  [40, 620, 0.5903],
  [79, 650, 0.4893],
  [5, 700, 0.7887],
  [30, 760, 0.1398],
];

test("the features are those the model was trained with", () => {
  const sound = Float32Array.from(samples.subarray(0, 60_000), (sample) => sample / 32_768);
  const features = logMel(sound);
  assert.equal(features.length, BANDS * FRAMES);
  for (const [band, frame, value] of EXPECTED) {
    const found = features[band * FRAMES + frame]!;
    assert.ok(Math.abs(found - value) < 1e-3, `band ${band}, frame ${frame}: ${found} instead of ${value}`);
  }
});

test("silence and sound of any length are heard too", () => {
  assert.ok(logMel(new Float32Array(0)).every(Number.isFinite));
  assert.ok(logMel(new Float32Array(200_000).fill(0.1)).every(Number.isFinite));
});

test("a tone is where it belongs", () => {
  const length = 400;
  const input = { real: new Float64Array(length), imaginary: new Float64Array(length) };
  const output = { real: new Float64Array(length), imaginary: new Float64Array(length) };
  for (let at = 0; at < length; at += 1) input.real[at] = Math.cos((2 * Math.PI * 30 * at) / length);
  createFourier(length)(input, output);
  for (let bin = 0; bin < length; bin += 1) {
    const size = Math.hypot(output.real[bin]!, output.imaginary[bin]!);
    assert.ok(
      Math.abs(size - (bin === 30 || bin === length - 30 ? length / 2 : 0)) < 1e-9,
      `${bin}: ${size}`,
    );
  }
});
