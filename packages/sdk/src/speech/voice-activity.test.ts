import { createResampler, parseWav, rmsLevel } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createVoiceActivityDetector } from "./voice-activity.ts";

const WINDOW_MS = 32;
const speech = parseWav(readFileSync(new URL("fixtures/table-for-two.wav", import.meta.url)));

test("finds the beginning and the end of speech", () => {
  const loud = windowsOf(speech.samples).map((window) => rmsLevel(window) > 0.005);
  for (const sampleRateHz of [16_000, 8000, 24_000, 44_100]) {
    const heard = detect(resampled(sampleRateHz), sampleRateHz);
    const startMs = (heard.indexOf(true) - loud.indexOf(true)) * WINDOW_MS;
    const endMs = (heard.lastIndexOf(true) - loud.lastIndexOf(true)) * WINDOW_MS;
    assert.ok(startMs >= 0 && startMs <= 130, `${sampleRateHz} Hz: begins ${startMs} ms late`);
    assert.ok(endMs >= -64 && endMs <= 130, `${sampleRateHz} Hz: ends ${endMs} ms late`);
    const spoken = heard.slice(heard.indexOf(true), heard.lastIndexOf(true));
    assert.ok(spoken.filter(Boolean).length > spoken.length * 0.85);
  }
});

test("one decision per window, however the stream is cut", () => {
  const whole = detect(speech.samples, 16_000);
  assert.equal(whole.length, Math.floor(speech.samples.length / 512));
  for (const length of [320, 7, 5000]) {
    assert.deepEqual(detect(speech.samples, 16_000, length), whole);
  }
});

test("silence, noise and tones are not speech", () => {
  let brown = 0;
  const table: [string, (i: number) => number][] = [
    ["silence", () => 0],
    ["faint noise", () => 300 * (Math.random() - 0.5)],
    ["white noise", () => 20_000 * (Math.random() - 0.5)],
    ["rumble", () => (brown = 0.98 * brown + 3000 * (Math.random() - 0.5))],
    ["mains hum", (i) => 5000 * Math.sin((2 * Math.PI * 50 * i) / 16_000)],
    ["440 Hz", (i) => 10_000 * Math.sin((2 * Math.PI * 440 * i) / 16_000)],
    ["clicks", (i) => (i % 8000 < 20 ? 30_000 : 0)],
  ];
  for (const [name, sample] of table) {
    const samples = Int16Array.from({ length: 5 * 16_000 }, (_, i) => sample(i));
    assert.ok(!detect(samples, 16_000).includes(true), name);
  }
});

test("a detector that follows another one starts anew", () => {
  const first = createVoiceActivityDetector({ sampleRateHz: 16_000 });
  const middle = speech.samples.subarray(0, 30_000); // ends within speech
  assert.equal(first.process(middle).at(-1), true);
  first.free();
  first.free();
  assert.throws(() => first.process(middle), /freed/);
  assert.deepEqual(detect(speech.samples, 16_000), detect(speech.samples, 16_000));
});

test("two detectors at once do not disturb each other", () => {
  const alone = detect(speech.samples, 16_000);
  const one = createVoiceActivityDetector({ sampleRateHz: 16_000 });
  const other = createVoiceActivityDetector({ sampleRateHz: 16_000 });
  const heard = windowsOf(speech.samples).flatMap((window) => {
    other.process(window.map((sample) => -sample + 5));
    return one.process(window);
  });
  assert.deepEqual(heard, alone);
  one.free();
  other.free();
});

test("a long talk takes no more memory than a short one", () => {
  const detector = createVoiceActivityDetector({ sampleRateHz: 16_000 });
  const talk = speech.samples.subarray(20_000, 55_000);
  const listen = (times: number) => {
    for (let i = 0; i < times; i++) detector.process(talk);
    return process.memoryUsage().rss / 1e6;
  };
  const usedMb = [30, 270, 270].map(listen); // 18,000 windows, 10 minutes, would be 38 MB each time
  const leastMb = Math.min(usedMb[1]! - usedMb[0]!, usedMb[2]! - usedMb[1]!); // garbage is collected between the two
  assert.ok(leastMb < 20, `${usedMb.join(" MB, then ")} MB`);
  detector.free();
});

test("settings that make no sense are refused", () => {
  for (const threshold of [0, 1, -1, Number.NaN]) {
    assert.throws(() => createVoiceActivityDetector({ sampleRateHz: 16_000, threshold }), RangeError);
  }
  assert.throws(() => createVoiceActivityDetector({ sampleRateHz: 0 }), RangeError);
});

function detect(samples: Int16Array, sampleRateHz: number, length = samples.length): boolean[] {
  const detector = createVoiceActivityDetector({ sampleRateHz });
  const heard: boolean[] = [];
  for (let i = 0; i < samples.length; i += length) {
    heard.push(...detector.process(samples.subarray(i, i + length)));
  }
  detector.free();
  return heard;
}

function resampled(sampleRateHz: number): Int16Array {
  return createResampler({ fromHz: 16_000, toHz: sampleRateHz }).process(speech.samples);
}

function windowsOf(samples: Int16Array): Int16Array[] {
  return Array.from({ length: Math.floor(samples.length / 512) }, (_, i) =>
    samples.subarray(i * 512, (i + 1) * 512),
  );
}
