import assert from "node:assert/strict";
import { test } from "node:test";
import { Resampler } from "./resampler.ts";

/** One second of a tone through the resampler, in blocks of 128 samples. */
function resampleTone({ toneHz, fromHz, toHz }: { toneHz: number; fromHz: number; toHz: number }) {
  const resampler = new Resampler({ fromHz, toHz });
  const output: number[] = [];
  for (let start = 0; start < fromHz; start += 128) {
    const block = Float32Array.from({ length: 128 }, (_, index) =>
      Math.sin((2 * Math.PI * toneHz * (start + index)) / fromHz),
    );
    output.push(...resampler.push(block));
  }
  return output;
}

const loudness = (samples: number[]) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

for (const fromHz of [48_000, 44_100, 16_000, 8_000]) {
  test(`speech passes from ${fromHz} Hz to 16000 Hz`, () => {
    const output = resampleTone({ toneHz: 1000, fromHz, toHz: 16_000 });
    assert.ok(Math.abs(output.length - 16_000) < 300, `${output.length} samples`);
    assert.ok(Math.abs(loudness(output) - Math.SQRT1_2) < 0.01, `loudness ${loudness(output)}`);
    // The tone must stay a tone: compare with the ideal sine at its own phase.
    const settled = output.slice(2000, 4000);
    const phases = settled.map((_, index) => (2 * Math.PI * 1000 * index) / 16_000);
    const a = settled.reduce((sum, sample, index) => sum + sample * Math.sin(phases[index]!), 0);
    const b = settled.reduce((sum, sample, index) => sum + sample * Math.cos(phases[index]!), 0);
    assert.ok(Math.abs(Math.hypot(a, b) / 1000 - 1) < 0.01);
  });
}

test("what would fold back is removed", () => {
  const output = resampleTone({ toneHz: 11_000, fromHz: 48_000, toHz: 16_000 });
  assert.ok(loudness(output.slice(100)) < 0.004, `loudness ${loudness(output.slice(100))}`);
});
