import assert from "node:assert/strict";
import { test } from "node:test";
import { gateVolume } from "./volume-gate.ts";
import type { VoiceActivity } from "./voice-activity.ts";

const RATE_HZ = 16_000;
const everything: VoiceActivity = {
  windowMs: 32,
  process: (samples) => Array.from({ length: samples.length / 512 }, () => true),
};

/** A tone of this loudness, in windows. */
function tone(dbfs: number, windows: number): Int16Array {
  const peak = 10 ** (dbfs / 20) * Math.SQRT2 * 32_768;
  return Int16Array.from({ length: windows * 512 }, (_, at) => Math.round(peak * Math.sin(at / 5)));
}

const share = (decisions: boolean[]): number => decisions.filter(Boolean).length / decisions.length;

test("a television 12 dB below the user is not speech, also when it goes on for ten seconds", () => {
  const gate = gateVolume(everything, { sampleRateHz: RATE_HZ });
  assert.equal(share(gate.process(tone(-18, 60))), 1);
  const television = gate.process(tone(-30, 300));
  assert.ok(television.slice(3).indexOf(true) * 32 === -32 || television.slice(3).indexOf(true) * 32 > 3_000);
  assert.equal(share(gate.process(tone(-18, 30)).slice(1)), 1, "the user is heard again at once");
});

test("the user may become quieter by 6 dB", () => {
  const gate = gateVolume(everything, { sampleRateHz: RATE_HZ });
  gate.process(tone(-18, 60));
  assert.equal(share(gate.process(tone(-24, 60))), 1);
});

test("a quieter speaker who takes over is heard after some seconds", () => {
  const gate = gateVolume(everything, { sampleRateHz: RATE_HZ });
  gate.process(tone(-18, 60));
  const other = gate.process(tone(-32, 800));
  assert.equal(other[10], false);
  assert.equal(other.at(-1), true);
});

test("hardly audible speech is none, and what the detector rejects stays rejected", () => {
  const gate = gateVolume(everything, { sampleRateHz: RATE_HZ });
  assert.equal(share(gate.process(tone(-60, 60))), 0);
  const nothing = gateVolume(
    { ...everything, process: (samples) => everything.process(samples).map(() => false) },
    {
      sampleRateHz: RATE_HZ,
    },
  );
  assert.equal(share(nothing.process(tone(-18, 60))), 0);
});
