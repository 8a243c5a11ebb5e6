import assert from "node:assert/strict";
import { test } from "node:test";
import { RateConverter } from "./rate-converter.ts";
import { makeTone, rms } from "./testing/signals.ts";

const PAIRS = [
  [11_025, 12_000],
  [22_050, 24_000],
  [44_100, 48_000],
] as const;

test("a tone keeps its level and length there and back", () => {
  for (const [from, to] of PAIRS) {
    const tone = makeTone(from, 1_000, from, 10_000);
    const up = convert(new RateConverter(from, to), tone);
    const back = convert(new RateConverter(to, from), up);
    assert.ok(Math.abs(back.length - tone.length) <= 2, `${from} Hz: ${back.length}`);
    const middle = back.subarray(1_000, 9_000);
    assert.ok(Math.abs(20 * Math.log10(rms(middle) / (10_000 / Math.SQRT2))) < 0.05, `${from} Hz`);
  }
});

test("what the lower rate cannot carry is gone", () => {
  const converted = convert(new RateConverter(48_000, 44_100), makeTone(48_000, 23_500, 48_000, 20_000));
  assert.ok(20 * Math.log10(rms(converted.subarray(1_000)) / 14_142) < -20);
});

function convert(converter: RateConverter, input: Int16Array): Int16Array {
  const output = new Int16Array(converter.outputMax(input.length));
  return output.subarray(0, converter.convert(input, input.length, output));
}
