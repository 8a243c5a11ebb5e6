import assert from "node:assert/strict";
import { test } from "node:test";
import { createCollectedLog } from "../testing/collected-log.ts";
import type { AudioFilter, OpenFilter } from "./audio-filter.ts";
import { openFilterStage } from "./filter-stage.ts";

const FAILED = "audio filter failed, audio passes untouched";
const frame = (value: number): Int16Array => new Int16Array(4).fill(value);

test("a filter is opened with rate, log and signal, fed, flushed and disposed of once", async () => {
  const steps: unknown[] = [];
  const controller = new AbortController();
  const filter: AudioFilter = {
    open({ sampleRateHz, log, signal }) {
      log.info({}, "opened");
      steps.push(sampleRateHz, signal === controller.signal);
      return {
        process: (samples) => samples.map((sample) => -sample),
        flush: () => Int16Array.of(7),
        dispose: async () => void steps.push("disposed"),
      };
    },
  };
  const { stage } = await open(filter, controller);
  assert.deepEqual(stage.process(frame(1)), frame(-1));
  assert.deepEqual(stage.end(), Int16Array.of(7));
  assert.equal(stage.end().length, 0);
  assert.equal(stage.process(frame(1)).length, 0);
  await Promise.all([stage.dispose(), stage.dispose()]);
  assert.deepEqual(steps, [16_000, true, "disposed"]);
  assert.deepEqual(stage.figures, { framesIn: 1, framesFiltered: 1 });
});

test("one that cannot be opened lets audio pass untouched, and that is told once", async () => {
  const broken: AudioFilter["open"][] = [
    () => {
      throw new Error("no model");
    },
    () => Promise.reject(new Error("no model")),
  ];
  for (const opening of broken) {
    const { stage, messages } = await open({ open: opening });
    assert.deepEqual([stage.process(frame(1)), stage.process(frame(2))], [frame(1), frame(2)]);
    assert.equal(stage.end().length, 0);
    await stage.dispose();
    assert.deepEqual(stage.figures, { framesIn: 2, framesFiltered: 0 });
    assert.deepEqual(messages(), [FAILED, "audio passed the filter unfiltered"]);
  }
});

test("a frame it fails on passes as it came, the next one is given to it again", async () => {
  const { stage, messages } = await open(
    filterOf((samples) => {
      const [first = 0] = samples;
      samples.fill(0); // half done
      if (first % 2 === 1) throw new Error("odd");
      return samples;
    }),
  );
  assert.deepEqual(
    [1, 2, 3, 4].map((value) => stage.process(frame(value))[0]),
    [1, 0, 3, 0],
  );
  assert.deepEqual(stage.figures, { framesIn: 4, framesFiltered: 2 });
  assert.deepEqual(messages(), [FAILED]);
});

test("what is no audio counts as failure, a promise that rejects included", async () => {
  const results: unknown[] = [
    undefined,
    [1, 2],
    Promise.reject(new Error("async")),
    Promise.resolve(frame(9)),
  ];
  for (const result of results) {
    const { stage, messages } = await open(filterOf(() => result as Int16Array));
    assert.deepEqual(stage.process(frame(1)), frame(1));
    assert.deepEqual(messages(), [FAILED]);
  }
  await new Promise(setImmediate); // an unhandled rejection would fail the test here
});

test("failing at the end ends nothing else", async () => {
  const { stage, messages } = await open({
    open: () => ({
      process: (samples) => samples,
      flush() {
        throw new Error("flush");
      },
      dispose: () => Promise.reject(new Error("dispose")),
    }),
  });
  stage.process(frame(1));
  assert.equal(stage.end().length, 0);
  await stage.dispose();
  assert.deepEqual(messages(), [FAILED]);
});

test("a session that ends while the filter opens waits for nothing, and what opens late is disposed of", async () => {
  const controller = new AbortController();
  const late = Promise.withResolvers<OpenFilter>();
  const disposed = Promise.withResolvers<void>();
  const opening = open({ open: () => late.promise }, controller);
  controller.abort("stopped");
  const { stage } = await opening;
  assert.deepEqual(stage.process(frame(1)), frame(1));
  late.resolve({ process: (samples) => samples, dispose: () => disposed.resolve() });
  await disposed.promise;
});

function filterOf(process: OpenFilter["process"]): AudioFilter {
  return { open: () => ({ process }) };
}

async function open(filter: AudioFilter, { signal } = new AbortController()) {
  const { log, messages } = createCollectedLog();
  const stage = await openFilterStage(filter, { sampleRateHz: 16_000, sessionId: "s1", log, signal });
  return { stage, messages: () => messages().filter((message) => message !== "opened") };
}
