import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeG711, encodeG711 } from "./g711.ts";
import { dtmfTones } from "./dtmf.ts";

const TONES_HZ = [697, 770, 852, 941, 1209, 1336, 1477, 1633];
const EXPECTED: Record<string, [number, number]> = {
  "1": [697, 1209],
  "5": [770, 1336],
  "9": [852, 1477],
  "0": [941, 1336],
  "*": [941, 1209],
  "#": [941, 1477],
  D: [941, 1633],
};

for (const sampleRateHz of [8_000, 16_000, 24_000])
  test(`each key is its two tones and no other, also over G.711, at ${sampleRateHz} Hz`, () => {
    for (const [key, expected] of Object.entries(EXPECTED)) {
      const samples = decodeG711(encodeG711(dtmfTones(key, { sampleRateHz }), "mulaw"), "mulaw");
      const sound = samples.subarray(0, (160 * sampleRateHz) / 1000);
      const levels = TONES_HZ.map((hz) => ({ hz, level: goertzel(sound, hz, sampleRateHz) }));
      const loudest = levels.toSorted((left, right) => right.level - left.level);
      assert.deepEqual(
        loudest
          .slice(0, 2)
          .map(({ hz }) => hz)
          .toSorted((left, right) => left - right),
        expected,
        key,
      );
      assert.ok(loudest[2]!.level < loudest[1]!.level / 10, `${key}: the third tone is far below`);
      assert.ok(
        samples.subarray(sound.length).every((sample) => Math.abs(sample) < 10),
        "a gap follows",
      );
    }
  });

test("keys follow one another, pauses between them are silence", () => {
  const one = dtmfTones("1", { sampleRateHz: 8_000 }).length;
  assert.equal(dtmfTones("12#", { sampleRateHz: 8_000 }).length, 3 * one);
  const paused = dtmfTones("1w2", { sampleRateHz: 8_000 });
  assert.equal(paused.length, 2 * one + 4_000);
  assert.ok(paused.subarray(one, one + 4_000).every((sample) => sample === 0));
  assert.equal(dtmfTones("", { sampleRateHz: 8_000 }).length, 0);
  assert.throws(() => dtmfTones("1x", { sampleRateHz: 8_000 }), /"x" is no key/);
});

function goertzel(samples: Int16Array, hz: number, sampleRateHz: number): number {
  const turn = (2 * Math.PI * hz) / sampleRateHz;
  let [real, imaginary] = [0, 0];
  samples.forEach((sample, at) => {
    real += sample * Math.cos(turn * at);
    imaginary += sample * Math.sin(turn * at);
  });
  return Math.hypot(real, imaginary) / samples.length;
}
