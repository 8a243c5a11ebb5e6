import assert from "node:assert/strict";
import { test } from "node:test";
import { createVoiceMeter } from "./voice-meter.ts";

const RATE_HZ = 8000;
const loud = (ms: number): Int16Array => new Int16Array(ms * 8).map((_, i) => (i % 2 ? 3000 : -3000));
const quiet = (ms: number): Int16Array => new Int16Array(ms * 8).fill(3);

test("utterances end after a pause, short gaps belong to them", () => {
  const edges: string[] = [];
  const meter = createVoiceMeter({
    sampleRateHz: RATE_HZ,
    onStart: (atMs) => edges.push(`start ${atMs}`),
    onEnd: (atMs) => edges.push(`end ${atMs}`),
  });
  for (const sound of [quiet(100), loud(200), quiet(300), loud(100), quiet(380)]) meter.hear(sound);
  assert.deepEqual(edges, ["start 100"]);
  assert.equal(meter.talkingSinceMs, 100);
  meter.hear(quiet(20));
  assert.deepEqual(edges, ["start 100", "end 700"]);
  assert.equal(meter.talkingSinceMs, undefined);
  assert.equal(meter.lastLoudMs, 700);
  meter.hear(loud(40));
  meter.finish();
  meter.finish();
  assert.deepEqual(edges.slice(2), ["start 1100", "end 1140"]);
  assert.deepEqual(meter.utterances, [
    { startMs: 100, endMs: 700 },
    { startMs: 1100, endMs: 1140 },
  ]);
  assert.equal(meter.loudMs, 340);
});

test("a quiet line and the noise of a room are not talk", () => {
  const meter = createVoiceMeter({ sampleRateHz: RATE_HZ });
  meter.hear(new Int16Array(8000).fill(8)); // what A-law calls silence
  meter.hear(new Int16Array(8000).map((_, i) => (i % 2 ? 180 : -180)));
  assert.deepEqual(meter.utterances, []);
});
