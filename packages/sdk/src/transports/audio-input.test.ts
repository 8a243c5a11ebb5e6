import type { AudioFrame } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenFilter } from "../filters/audio-filter.ts";
import { openFilterStage, type FilterStage } from "../filters/filter-stage.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createAudioInput, type AudioInputOptions } from "./audio-input.ts";
import type { AudioInput } from "./transport.ts";

test("whatever comes is heard in frames of 20 ms", async () => {
  const { source, frames } = start();
  source.push(
    Int16Array.from({ length: 100 }, (_, at) => at),
    16_000,
  );
  source.push(
    Int16Array.from({ length: 700 }, (_, at) => 100 + at),
    16_000,
  );
  source.push(new Int16Array(0), 16_000);
  const heard = await frames();
  assert.deepEqual(
    heard.map(({ samples, sampleRateHz }) => [samples.length, sampleRateHz]),
    [
      [320, 16_000],
      [320, 16_000],
    ],
  );
  assert.deepEqual(
    heard.flatMap(({ samples }) => [...samples]),
    Array.from({ length: 640 }, (_, at) => at),
  );
});

test("other rates are converted, also when they change on the way", async () => {
  const { source, frames } = start();
  source.push(new Int16Array(480).fill(1000), 24_000);
  source.push(new Int16Array(960).fill(1000), 48_000);
  source.push(new Int16Array(160).fill(1000), 8_000);
  source.push(new Int16Array(320).fill(1000), 16_000);
  const heard = await frames();
  assert.equal(heard.length, 4);
  assert.ok(heard.every(({ samples }) => samples.length === 320));
  assert.deepEqual(heard.at(-1)?.samples, new Int16Array(320).fill(1000));
});

test("the filter gets every frame, and what it gives is heard", async () => {
  const seen: number[] = [];
  const filter = await stageOf((samples) => {
    seen.push(samples[0] ?? 0);
    return samples.map((sample) => sample * 2);
  });
  const { source, frames } = start({ filter });
  source.push(new Int16Array(320).fill(1), 16_000);
  source.push(new Int16Array(320).fill(2), 16_000);
  const heard = await frames();
  assert.deepEqual(seen, [1, 2]);
  assert.deepEqual(
    heard.map(({ samples }) => samples[0]),
    [2, 4],
  );
});

test("a filter that is over gets nothing more", async () => {
  let calls = 0;
  const filter = await stageOf((samples) => {
    calls += 1;
    return samples;
  });
  const { source } = start({ filter });
  source.end();
  source.push(new Int16Array(320), 16_000);
  assert.equal(calls, 0);
});

test("frames a bot does not read in time are dropped, oldest first", async () => {
  const { source, frames } = start({ maxQueuedMs: 60 });
  for (let frame = 1; frame <= 5; frame += 1) source.push(new Int16Array(320).fill(frame), 16_000);
  assert.equal(source.input.droppedFrames, 2);
  assert.deepEqual(
    (await frames()).map(({ samples }) => samples[0]),
    [3, 4, 5],
  );
});

test("a reader that falls behind is told of, a bot that never listens is not", async () => {
  const dropped: number[] = [];
  const { source } = start({ maxQueuedMs: 40, dropped: (ms) => void dropped.push(ms) });
  for (let frame = 1; frame <= 5; frame += 1) source.push(new Int16Array(320), 16_000);
  assert.deepEqual([source.input.droppedFrames, dropped], [3, []]);
  const reader = source.input[Symbol.asyncIterator]();
  await reader.next();
  for (let frame = 1; frame <= 3; frame += 1) source.push(new Int16Array(320), 16_000);
  assert.deepEqual([source.input.droppedFrames, dropped], [5, [20, 20]]);
});

test("a loop that begins late hears what is said then, and one that reads on at once misses nothing", async () => {
  const { source } = start();
  const say = (from: number, to: number): void => {
    for (let frame = from; frame <= to; frame += 1) source.push(new Int16Array(320).fill(frame), 16_000);
  };
  using asked = source.input.tee();
  say(1, 400); // eight seconds of a menu
  const reader = source.input[Symbol.asyncIterator]();
  const first = reader.next();
  say(401, 403);
  assert.equal((await first).value?.samples[0], 401);
  await reader.return?.();
  for await (const { samples } of source.input) {
    assert.equal(samples[0], 402);
    break;
  }
  say(404, 500);
  const later = source.input[Symbol.asyncIterator]();
  const next = later.next();
  say(501, 503);
  assert.equal((await next).value?.samples[0], 501);
  source.input.flush();
  source.end();
  assert.equal((await later.next()).done, true);
  assert.deepEqual([source.input.droppedFrames, (await all(asked)).length], [0, 500]);
});

test("the first words of a call wait for the first loop", async () => {
  const { source, frames } = start();
  for (let frame = 1; frame <= 150; frame += 1) source.push(new Int16Array(320).fill(frame), 16_000);
  assert.equal((await frames()).length, 150);
});

test("every reader of a tee hears everything, in frames of its own", async () => {
  const { source, frames } = start();
  const [first, second] = [source.input, source.input.tee()];
  source.push(
    Int16Array.from({ length: 320 }, (_, at) => at),
    16_000,
  );
  const late = second.tee();
  source.push(new Int16Array(320).fill(7), 16_000);
  source.end();
  const heard = await Promise.all([first, second, late].map((input) => all(input)));
  assert.deepEqual(
    heard.map((read) => read.map(({ samples }) => samples[1])),
    [
      [1, 7],
      [1, 7],
      [1, 7],
    ],
  );
  heard[0]?.[0]?.samples.fill(-1);
  assert.deepEqual([heard[1]?.[0]?.samples[1], heard[2]?.[0]?.samples[1]], [1, 1]);
  assert.deepEqual(await frames(), []);
  assert.deepEqual(await all(first.tee()), [], "after the end there is nothing to hear");
});

test("each reader of a tee has its own bounds, and a slow one costs the others nothing", async () => {
  const { source } = start();
  const slow = source.input.tee({ maxQueuedMs: 40 });
  for (let frame = 1; frame <= 5; frame += 1) source.push(new Int16Array(320).fill(frame), 16_000);
  assert.deepEqual([source.input.droppedFrames, slow.droppedFrames, slow.tee().droppedFrames], [0, 3, 0]);
  source.end();
  assert.deepEqual([(await all(source.input)).length, (await all(slow)).length], [5, 2]);
});

test("a tee that is disposed of ends, and hears no more", async () => {
  const { source } = start();
  const tee = source.input.tee();
  const frames = tee[Symbol.asyncIterator]();
  const next = frames.next();
  tee[Symbol.dispose]();
  assert.equal((await next).done, true);
  source.push(new Int16Array(320), 16_000);
  assert.equal((await frames.next()).done, true);
});

test("two loops over the same audio are told to tee", async () => {
  const { source } = start();
  void source.input[Symbol.asyncIterator]().next();
  await assert.rejects(source.input[Symbol.asyncIterator]().next(), /another loop.*audioIn\.tee\(\)/);
});

test("a cap below one frame keeps one", async () => {
  const { source, frames } = start({ maxQueuedMs: 0 });
  source.push(new Int16Array(320).fill(1), 16_000);
  source.push(new Int16Array(320).fill(2), 16_000);
  assert.deepEqual(
    (await frames()).map(({ samples }) => samples[0]),
    [2],
  );
});

test("what a filter gives is cut into frames again, and its last words are heard", async () => {
  let held = new Int16Array(0);
  const filter = await stageOf(
    (samples) => {
      const all = Int16Array.from([...held, ...samples]);
      held = all.slice(-160); // 10 ms later
      return all.slice(0, -160);
    },
    () => held,
  );
  const { source, frames } = start({ filter });
  const given = Array.from({ length: 960 }, (_, at) => at);
  source.push(Int16Array.from(given), 16_000);
  const heard = await frames();
  assert.ok(heard.every(({ samples }) => samples.length === 320));
  assert.deepEqual(
    heard.flatMap(({ samples }) => [...samples]),
    given,
  );
});

function stageOf(process: OpenFilter["process"], flush?: OpenFilter["flush"]): Promise<FilterStage> {
  const { log } = createCollectedLog();
  const { signal } = new AbortController();
  const filter = { open: () => ({ process, ...(flush ? { flush } : {}) }) };
  return openFilterStage(filter, { sampleRateHz: 16_000, sessionId: "s1", log, signal });
}

async function all(input: AudioInput): Promise<AudioFrame[]> {
  const heard: AudioFrame[] = [];
  for await (const frame of input) heard.push(frame);
  return heard;
}

function start(options: Partial<AudioInputOptions> = {}) {
  const source = createAudioInput({
    sampleRateHz: 16_000,
    maxQueuedMs: 10_000,
    filter: undefined,
    ...options,
  });
  assert.equal(source.input.sampleRateHz, 16_000);
  return {
    source,
    /** Ends the stream and returns all of its frames. */
    async frames() {
      source.end();
      return all(source.input);
    },
  };
}
