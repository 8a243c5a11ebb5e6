import { samplesIn } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { farEnds, type FarEnd } from "../testing/far-ends.ts";

// What a bot may rely on whatever it is connected by. One list of promises, kept by every kind of connection.

for (const { name, open } of farEnds) {
  test(`${name}: what is written may be overwritten at once`, async () => {
    await using end = await open();
    const { audioOut } = end.transport;
    const buffer = tone(200);
    for (let piece = 0; piece < 3; piece += 1) {
      buffer.set(tone(200));
      audioOut.write({ samples: buffer, sampleRateHz: RATE_HZ });
      buffer.fill(0);
    }
    await heardMs(end, 600);
    const loudMs = loudness(end).filter((level) => level > TONE_LEVEL / 2).length * WINDOW_MS;
    assert.ok(loudMs >= 500, `${loudMs} ms of 600 are heard`);
  });
}

const RATE_HZ = 24_000;
const TONE_LEVEL = 12_000;
const WINDOW_MS = 20;

/** 400 Hz: whole periods in every 20 ms, so pieces join. */
function tone(ms: number): Int16Array {
  return Int16Array.from({ length: samplesIn(ms, RATE_HZ) }, (_, at) =>
    Math.round(TONE_LEVEL * Math.sin((2 * Math.PI * 400 * at) / RATE_HZ)),
  );
}

function heardMs(end: FarEnd, wantedMs: number): Promise<unknown> {
  const soFarMs = (): number =>
    end.heard().reduce((sum, piece) => sum + (piece.samples.length * 1000) / piece.sampleRateHz, 0);
  return until(() => soFarMs() >= wantedMs, 5_000, `${wantedMs} ms of the bot's voice`);
}

/** The peak of every 20 ms that was heard. */
function loudness(end: FarEnd): number[] {
  return end.heard().flatMap(({ samples, sampleRateHz }) => {
    const window = samplesIn(WINDOW_MS, sampleRateHz);
    return Array.from({ length: Math.ceil(samples.length / window) }, (_, at) =>
      samples.subarray(at * window, (at + 1) * window).reduce((peak, s) => Math.max(peak, Math.abs(s)), 0),
    );
  });
}
