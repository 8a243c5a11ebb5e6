import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openEngine } from "./engine.ts";
import { makeMusic, rms } from "./testing/signals.ts";

const VOICE = new URL("../../sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const RATE_HZ = 16_000;
const WAV_HEADER_BYTES = 44;

test("a clean voice keeps its level and its shape, once it was heard for a sentence", () => {
  for (const model of ["tel", "pro"] as const) {
    using engine = openEngine({ model, sampleRateHz: RATE_HZ });
    const voice = readCleanVoice();
    engine.process(voice); // the first words of a new talker are weaker, see Limits in docs/voice-isolation.md
    const filtered = engine.process(voice).slice(engine.delaySamples);
    const spoken = loudWindows(voice.subarray(0, filtered.length));
    const pairs = spoken.map((from) => [levelAt(voice, from), levelAt(filtered, from)] as const);
    const [before, after] = [0, 1].map((side) =>
      Math.sqrt(mean(pairs.map((pair) => pair[side as 0 | 1] ** 2))),
    );
    const changeDb = 20 * Math.log10((after ?? 0) / (before ?? 1));
    assert.ok(Math.abs(changeDb) < 0.5, `${model}: ${changeDb.toFixed(2)} dB`);
    const shape = correlation(pairs);
    assert.ok(shape > 0.99, `${model}: envelopes correlate by ${shape.toFixed(4)}`);
  }
});

// docs/voice-isolation-figures.md has the figures for recorded music.
test("made music becomes silence", () => {
  for (const sampleRateHz of [8_000, RATE_HZ]) {
    using engine = openEngine({ model: "tel", sampleRateHz });
    const music = makeMusic(8 * sampleRateHz, sampleRateHz, 8_000);
    assert.equal(rms(engine.process(music).slice(4 * sampleRateHz)), 0, `${sampleRateHz} Hz`);
  }
});

function readCleanVoice(): Int16Array {
  const bytes = readFileSync(VOICE).subarray(WAV_HEADER_BYTES);
  const length = Math.floor(bytes.length / 2 / WINDOW) * WINDOW; // whole steps, so that nothing waits inside
  return Int16Array.from({ length }, (_, at) => bytes.readInt16LE(2 * at));
}

const WINDOW = RATE_HZ / 50;

/** Returns the windows with speech. */
function loudWindows(voice: Int16Array): number[] {
  const starts = Array.from({ length: Math.floor(voice.length / WINDOW) }, (_, index) => index * WINDOW);
  const loudest = Math.max(...starts.map((from) => levelAt(voice, from)));
  return starts.filter((from) => levelAt(voice, from) > loudest / 20);
}

function levelAt(samples: Int16Array, from: number): number {
  return rms(samples.subarray(from, from + WINDOW));
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function correlation(pairs: (readonly [number, number])[]): number {
  const [one, other] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  const product = mean(pairs.map(([x, y]) => (x - one) * (y - other)));
  const spread = Math.sqrt(
    mean(pairs.map(([x]) => (x - one) ** 2)) * mean(pairs.map(([, y]) => (y - other) ** 2)),
  );
  return product / spread;
}
