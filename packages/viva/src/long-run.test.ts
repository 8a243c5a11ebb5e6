import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { size } from "../../../testing/sizes.ts";
import { openEngine } from "./engine.ts";
import { kernelOf } from "./kernel.ts";
import { readVoice } from "./testing/reference.ts";
import { makeNoise, rms } from "./testing/signals.ts";

const MEGABYTE = 1_000_000;
const MINUTES = size(5, 30);

test(`a voice sounds after ${MINUTES} minutes as after one, no later, and takes no more memory`, () => {
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const { memory } = kernelOf("tel").exports;
  const bytes = memory.buffer.byteLength;
  const [voice, noise] = [readVoice(), makeNoise(16_000, 300)];
  const said = (): number => rms(engine.process(voice).slice());
  const wait = (seconds: number): void => {
    for (let second = 0; second < seconds; second += 1)
      assert.equal(engine.process(noise).length, noise.length);
  };
  said();
  wait(60);
  const early = said();
  wait((MINUTES - 1) * 60);
  const late = said();
  const changeDb = Math.abs(20 * Math.log10(late / early));
  assert.ok(changeDb < 1.5, `${changeDb.toFixed(2)} dB`);
  assert.equal(memory.buffer.byteLength, bytes);
});

test("fifty sessions take less than 3 MB each, and the next fifty nothing", () => {
  const { memory } = kernelOf("pro").exports;
  const open = (): Disposable[] =>
    Array.from({ length: 50 }, () => openEngine({ model: "pro", sampleRateHz: 48_000 }));
  const before = memory.buffer.byteLength;
  const sessions = open();
  const full = memory.buffer.byteLength;
  assert.ok((full - before) / 50 < 0.1 * MEGABYTE, `${full - before} bytes`);
  assert.ok(full < 6 * MEGABYTE, `${full} bytes with the model`);
  for (const session of sessions) session[Symbol.dispose]();
  for (const session of open()) session[Symbol.dispose]();
  assert.equal(memory.buffer.byteLength, full);
});

test("a steady stream grows no memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const frame = makeNoise(320, 4_000);
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let count = 0; count < 500; count += 1) engine.process(frame);
  const before = used();
  for (let count = 0; count < 5_000; count += 1) engine.process(frame);
  assert.ok(used() - before < 0.2 * MEGABYTE);
});
