import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openEngine, SAMPLE_RATES_HZ, type Engine } from "./engine.ts";
import { readModel } from "./model-file.ts";
import { readReferences, readVoice } from "./testing/reference.ts";
import { join, makeNoise, makeTone, rms } from "./testing/signals.ts";

/** Relative to full scale. */
const TOLERANCE = 1e-4;

for (const { model, sampleRateHz, payloadSha256, input, output } of readReferences())
  test(`${model} at ${sampleRateHz} Hz equals the reference implementation`, () => {
    assert.equal(readModel(model).header.payloadSha256, payloadSha256, "the vectors are of another model");
    using engine = openEngine({ model, sampleRateHz });
    const filtered = filterAll(engine, input, sampleRateHz / 50).subarray(engine.delaySamples);
    assert.equal(filtered.length, output.length);
    const worst = output.reduce(
      (most, value, at) => Math.max(most, Math.abs(value - (filtered[at] ?? 0))),
      0,
    );
    assert.ok(worst / 32_768 <= TOLERANCE, `off by ${worst} of 32768`);
    assert.ok(rms(filtered) > 100, "there is something to compare");
  });

test("two runs give the same bits, alone or among others", () => {
  const voice = readVoice();
  using first = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const alone = filterAll(first, voice, 320);
  using second = openEngine({ model: "tel", sampleRateHz: 16_000 });
  using other = openEngine({ model: "tel", sampleRateHz: 16_000 });
  using narrow = openEngine({ model: "tel", sampleRateHz: 8_000 });
  const parts: Int16Array[] = [];
  for (let at = 0; at < voice.length; at += 320) {
    other.process(makeNoise(320, 9_000, at + 1));
    parts.push(second.process(voice.subarray(at, at + 320)).slice());
    narrow.process(makeNoise(160, 20_000, at + 1));
  }
  parts.push(second.flush());
  assert.deepEqual(join(parts), alone);
});

test("a session that takes the place of an ended one remembers nothing of it", () => {
  const voice = readVoice();
  const run = (): Int16Array => {
    using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
    return filterAll(engine, voice, 160);
  };
  assert.deepEqual(run(), run());
});

test("the output does not depend on how the input is cut, at any rate", () => {
  for (const sampleRateHz of SAMPLE_RATES_HZ) {
    const input = makeNoise(Math.round(sampleRateHz / 5), 8_000);
    using whole = openEngine({ model: "tel", sampleRateHz });
    using cut = openEngine({ model: "tel", sampleRateHz });
    const expected = filterAll(whole, input, input.length);
    assert.deepEqual(filterAll(cut, input, 37), expected, `${sampleRateHz} Hz`);
    assert.equal(expected.length, input.length + whole.delaySamples);
  }
});

test("a frame of whole steps gives as many samples back, in the same array", () => {
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const frame = makeNoise(320, 5_000);
  const first = engine.process(frame);
  assert.equal(first.length, 320);
  assert.equal(engine.process(frame), first);
  assert.equal(engine.process(new Int16Array()).length, 0);
});

test("whatever the frames, all that goes in comes out and nothing throws", () => {
  const frames = fc.array(fc.int16Array({ maxLength: 700 }), { maxLength: 12 });
  fc.assert(
    fc.property(
      frames,
      fc.constantFrom("tel" as const, "pro" as const),
      fc.constantFrom(...SAMPLE_RATES_HZ),
      (inputs, model, sampleRateHz) => {
        using engine = openEngine({ model, sampleRateHz });
        const out = inputs.reduce((count, input) => count + engine.process(input).length, 0);
        const sent = inputs.reduce((count, input) => count + input.length, 0);
        assert.equal(out + engine.flush().length, sent + engine.delaySamples);
      },
    ),
    { numRuns: 60 },
  );
});

test("the delay is 30 ms, and less than 3 ms more where the rate is converted", () => {
  for (const sampleRateHz of SAMPLE_RATES_HZ) {
    using engine = openEngine({ model: "pro", sampleRateHz });
    const isConverted = [11_025, 22_050, 44_100].includes(sampleRateHz);
    assert.ok(isConverted ? engine.delayMs < 33 : engine.delayMs === 30, `${sampleRateHz} Hz`);
  }
});

test("floats that are no numbers are silence, and what is too loud is clipped", () => {
  using floats = openEngine({ model: "tel", sampleRateHz: 16_000 });
  using samples = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const values = [Number.NaN, Infinity, -Infinity, 7, -7, 0.5];
  const input = Float32Array.from({ length: 1_600 }, (_, index) => values[index % values.length] ?? 0);
  const equal = [0, 32_767, -32_768, 32_767, -32_768, 16_384];
  const same = Int16Array.from({ length: 1_600 }, (_, index) => equal[index % equal.length] ?? 0);
  assert.deepEqual(floats.process(input).slice(), samples.process(same).slice());
  assert.ok(Number.isFinite(floats.figures.levelRemovedDb));
});

test("silence stays silence, a constant and a steady tone fade", () => {
  const second = 16_000;
  const loudness = (input: Int16Array): number => {
    using engine = openEngine({ model: "tel", sampleRateHz: second });
    return rms(filterAll(engine, input, 320).subarray(3 * second));
  };
  assert.equal(loudness(new Int16Array(4 * second)), 0);
  assert.ok(loudness(new Int16Array(4 * second).fill(12_000)) < 1_200, "a constant");
  assert.ok(loudness(makeTone(4 * second, 440, second, 8_000)) < 800, "a tone");
  assert.ok(loudness(makeNoise(4 * second, 4_000)) < 200, "hiss");
});

test("a clipped signal neither wraps around nor breaks what follows", () => {
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  const square = Int16Array.from({ length: 8_000 }, (_, index) => (index % 80 < 40 ? 32_767 : -32_768));
  filterAll(engine, square, 320);
  const after = filterAll(engine, new Int16Array(16_000), 320);
  assert.ok(rms(after.subarray(8_000)) < 1);
});

test("models and rates there are not are refused", () => {
  for (const sampleRateHz of [0, -8_000, 7_999, 16_001, 96_000, Number.NaN, 16_000.5])
    assert.throws(() => openEngine({ model: "tel", sampleRateHz }), /does not work at .* use one of 8000/);
  assert.throws(
    () => openEngine({ model: "studio" as "tel", sampleRateHz: 16_000 }),
    /no voice isolation model studio/,
  );
});

test("figures tell what was done", () => {
  using engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  assert.deepEqual(engine.figures, {
    framesIn: 0,
    framesFiltered: 0,
    nearShare: 0,
    levelRemovedDb: 0,
    cpuMs: 0,
  });
  const voice = readVoice();
  for (let at = 0; at < voice.length; at += 160) engine.process(voice.subarray(at, at + 160));
  const { framesIn, framesFiltered, nearShare, levelRemovedDb, cpuMs } = engine.figures;
  assert.equal(framesIn, voice.length / 160);
  assert.equal(framesFiltered, framesIn);
  assert.ok(nearShare > 0.5 && nearShare <= 1, `near ${nearShare}`);
  assert.ok(levelRemovedDb > 0 && levelRemovedDb < 6, `removed ${levelRemovedDb}`);
  assert.ok(cpuMs >= 0);
  // The system counts CPU time in ticks longer than a second of voice takes.
  for (let pass = 0; pass < 50 && engine.figures.cpuMs === 0; pass++) engine.process(voice);
  assert.ok(engine.figures.cpuMs > 0);
  engine.flush();
  assert.equal(engine.figures.framesFiltered, engine.figures.framesIn, "a flush adds no frame");
});

test("a closed session says so", () => {
  const engine = openEngine({ model: "tel", sampleRateHz: 16_000 });
  engine[Symbol.dispose]();
  engine[Symbol.dispose]();
  assert.throws(() => engine.process(new Int16Array(160)), /closed/);
  assert.throws(() => engine.flush(), /closed/);
});

function filterAll(engine: Engine, input: Int16Array, frame: number): Int16Array {
  const parts: Int16Array[] = [];
  for (let at = 0; at < input.length; at += frame)
    parts.push(engine.process(input.subarray(at, at + frame)).slice());
  parts.push(engine.flush());
  return join(parts);
}
