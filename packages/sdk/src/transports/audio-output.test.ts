import type { AudioFrame } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { createAudioOutput, type AudioOutputOptions } from "./audio-output.ts";

test("what is written is played, and counted until it has been", () => {
  const { sink, output, played } = start();
  assert.equal(output.write(speech(300)), true);
  assert.equal(output.write(speech(200)), true);
  assert.deepEqual(played, [300, 200]);
  assert.equal(output.queuedMs, 500);
  sink.played(0, 120);
  assert.equal(output.queuedMs, 380);
  sink.played(0, 500);
  assert.equal(output.queuedMs, 0);
});

test("what is played is a copy of its own, without the recording it was cut from", () => {
  const played: Int16Array[] = [];
  const { output } = start({ play: (samples) => void played.push(samples), maxQueuedMs: 30 });
  const recording = Int16Array.from({ length: 10_000 }, (_, at) => at);
  output.write({ samples: recording.subarray(100, 120), sampleRateHz: 1000 });
  output.write({ samples: recording.subarray(200, 220), sampleRateHz: 1000 }); // half of it does not fit
  recording.fill(-1);
  assert.deepEqual(
    played.map((samples) => [samples[0], samples.length, samples.buffer.byteLength]),
    [
      [100, 20, 40],
      [200, 10, 20],
    ],
  );
});

test("a writer is told when enough is queued and woken when it no longer is", async () => {
  const { sink, output } = start();
  assert.equal(output.write(speech(1999)), true);
  await output.ready();
  assert.equal(output.write(speech(1)), false);
  const ready = watch(output.ready());
  assert.equal(await ready(), "waiting");
  sink.played(0, 0);
  assert.equal(await ready(), "waiting");
  sink.played(0, 1);
  assert.equal(await ready(), "done");
});

test("beyond the cap the newest audio is dropped and counted", () => {
  const { sink, output, played } = start({ maxQueuedMs: 3000 });
  output.write(speech(2900));
  assert.equal(output.write(speech(300)), false);
  assert.equal(output.write(speech(50)), false);
  assert.deepEqual(played, [2900, 100]);
  assert.equal(output.droppedMs, 250);
  assert.equal(output.queuedMs, 3000);
  sink.played(0, 40);
  output.write(speech(100));
  assert.deepEqual(played, [2900, 100, 40]);
});

test("under a small cap enough is what fits", async () => {
  const { sink, output } = start({ maxQueuedMs: 500 });
  assert.equal(output.write(speech(499)), true);
  assert.equal(output.write(speech(1)), false);
  const ready = watch(output.ready());
  assert.equal(await ready(), "waiting");
  sink.played(0, 10);
  assert.equal(await ready(), "done");
});

test("drained waits for what was written before it was asked", async () => {
  const { sink, output } = start();
  await output.drained();
  output.write(speech(100));
  const first = watch(output.drained());
  output.write(speech(100));
  const second = watch(output.drained());
  sink.played(0, 99);
  assert.deepEqual([await first(), await second()], ["waiting", "waiting"]);
  sink.played(0, 100);
  assert.deepEqual([await first(), await second()], ["done", "waiting"]);
  sink.played(0, 200);
  assert.equal(await second(), "done");
});

test("clearing forgets what is queued and begins a generation", async () => {
  const { sink, output, cleared } = start();
  output.write(speech(3000));
  sink.played(0, 100);
  const waits = [watch(output.drained()), watch(output.ready())];
  output.clear();
  assert.deepEqual(cleared, [1]);
  assert.equal(output.queuedMs, 0);
  assert.deepEqual(await Promise.all(waits.map((wait) => wait())), ["done", "done"]);

  output.write(speech(50));
  const drained = watch(output.drained());
  sink.played(0, 3000); // was sent before the queue was cleared
  assert.equal(output.queuedMs, 50);
  assert.equal(await drained(), "waiting");
  sink.played(1, 50);
  assert.equal(output.queuedMs, 0);
  assert.equal(await drained(), "done");
  output.clear();
  assert.deepEqual(cleared, [1], "there was nothing to clear");
});

test("an interruption reports what was heard, to the caller of clear and to waiters", async () => {
  const { sink, output } = start();
  output.write(speech(1000));
  const first = output.drained();
  output.write(speech(1000));
  const second = output.drained();
  sink.played(0, 300);
  assert.equal(output.playedMs, 300);
  assert.deepEqual(output.clear(), { playedMs: 300, interrupted: true });
  const cut = { playedMs: 300, interrupted: true };
  assert.deepEqual(await Promise.all([first, second]), [cut, cut]);
  assert.equal(output.playedMs, 0);
  assert.deepEqual(output.clear(), { playedMs: 0, interrupted: false });
});

test("what was heard to the end is not interrupted, and the next write is another utterance", async () => {
  const { sink, output } = start();
  output.write(speech(100));
  const first = output.drained();
  output.write(speech(50));
  sink.played(0, 150);
  const [both, also] = [output.drained(), output.drained()];
  assert.deepEqual(await first, { playedMs: 100, interrupted: false });
  assert.deepEqual(await both, { playedMs: 150, interrupted: false });
  assert.deepEqual(await also, { playedMs: 150, interrupted: false });
  output.write(speech(80));
  assert.equal(output.playedMs, 0);
  assert.equal(output.playedMs + output.queuedMs, 80, "where the next write begins");
  sink.played(0, 180);
  assert.equal(output.playedMs, 30);
  assert.deepEqual(output.clear(), { playedMs: 30, interrupted: true });
});

test("a queue that runs dry between two writes does not begin another utterance", () => {
  const { sink, output } = start();
  output.write(speech(100));
  sink.played(0, 100);
  output.write(speech(100));
  sink.played(0, 150);
  assert.deepEqual(output.clear(), { playedMs: 150, interrupted: true });
});

test("between two reports time tells how far it has got", () => {
  let nowMs = 0;
  const { sink, output } = start({ nowMs: () => nowMs });
  output.write(speech(1000));
  nowMs = 70;
  assert.equal(output.playedMs, 0, "it has not begun");
  sink.speaking(true);
  nowMs = 130;
  assert.equal(output.playedMs, 60);
  sink.played(0, 100);
  nowMs = 150;
  assert.equal(output.playedMs, 120);
  nowMs = 5_000;
  assert.equal(output.playedMs, 350, "who reports no more does not play on for ever");
  sink.played(0, 980);
  nowMs = 5_100;
  assert.equal(output.playedMs, 1000, "nor more than there is");
  assert.equal(output.queuedMs, 20, "which frees no space");
});

test("a pause keeps queued audio until it is resumed or cleared", () => {
  let nowMs = 0;
  const { sink, output, pauses } = start({ nowMs: () => nowMs });
  output.write(speech(1000));
  sink.speaking(true);
  nowMs = 50;
  output.pause();
  output.pause();
  assert.equal(output.isPaused, true);
  sink.speaking(false);
  nowMs = 500;
  assert.equal(output.playedMs, 50);
  output.resume();
  sink.speaking(true);
  nowMs = 540;
  assert.equal(output.playedMs, 50, "what has not been reported is not counted twice");
  sink.played(0, 100);
  output.pause();
  assert.deepEqual(output.clear(), { playedMs: 100, interrupted: true });
  assert.equal(output.isPaused, false, "clearing decides too");
  output.pause();
  output.clear();
  assert.deepEqual(pauses, ["true at 50", "false at 50", "true at 100", "true at 0", "false at 0"]);
});

test("the end of the session says what was left unheard", async () => {
  const { sink, output } = start();
  output.write(speech(100));
  sink.played(0, 40);
  const drained = output.drained();
  sink.end();
  assert.deepEqual(await drained, { playedMs: 40, interrupted: true });
  assert.deepEqual(await output.drained(), { playedMs: 40, interrupted: true });
});

test("the cap counts anew after clearing", () => {
  const { output, played } = start({ maxQueuedMs: 100 });
  output.write(speech(100));
  output.clear();
  output.write(speech(100));
  assert.deepEqual(played, [100, 100]);
  assert.equal(output.droppedMs, 0);
});

test("a wait ends with its signal or its time", async () => {
  const { sink, output } = start();
  output.write(speech(100));
  const controller = new AbortController();
  const drained = output.drained({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(drained, /enough/);
  await assert.rejects(output.drained({ timeoutMs: 1 }), /Gave up waiting for the audio queue after 1 ms/);
  sink.played(0, 100);
  await output.drained({ timeoutMs: 1 });
});

test("after the end nothing waits and no audio is accepted", async () => {
  const { sink, output, played } = start();
  output.write(speech(5000));
  const waits = [watch(output.drained()), watch(output.ready())];
  sink.end();
  assert.deepEqual(await Promise.all(waits.map((wait) => wait())), ["done", "done"]);
  assert.equal(output.write(speech(10)), false);
  await output.ready();
  await output.drained();
  assert.deepEqual(played, [5000]);
});

test("listeners are told when the bot becomes audible and silent", () => {
  const { sink, output } = start();
  const heard: string[] = [];
  const onStarted = (): void => void heard.push("started");
  output.on("started", onStarted);
  output.on("stopped", () => void heard.push("stopped"));
  sink.speaking(true);
  sink.speaking(false);
  output.off("started", onStarted);
  sink.speaking(true);
  assert.deepEqual(heard, ["started", "stopped"]);
});

test("other rates are converted", () => {
  const { output, played } = start({ sampleRateHz: 24_000 });
  output.write({ samples: new Int16Array(160), sampleRateHz: 8_000 });
  output.write({ samples: new Int16Array(160), sampleRateHz: 16_000 });
  output.write({ samples: new Int16Array(240), sampleRateHz: 24_000 });
  assert.deepEqual(played, [480, 240, 240]);
  assert.equal(output.queuedMs, 40);
});

test("nothing of what was cleared is heard in what follows", () => {
  const chunks: Int16Array[] = [];
  const { output } = start({ sampleRateHz: 16_000, play: (samples) => void chunks.push(samples.slice()) });
  output.write({ samples: new Int16Array(160).fill(20_000), sampleRateHz: 8_000 });
  output.clear();
  output.write({ samples: new Int16Array(160), sampleRateHz: 8_000 });
  assert.ok(chunks.at(-1)?.every((sample) => sample === 0));
});

/** At 1000 Hz one sample is one millisecond. */
function speech(ms: number): AudioFrame {
  return { samples: new Int16Array(ms), sampleRateHz: 1000 };
}

function start(options: Partial<AudioOutputOptions> = {}) {
  const played: number[] = [];
  const cleared: number[] = [];
  const pauses: string[] = [];
  const sink = createAudioOutput({
    sampleRateHz: 1000,
    maxQueuedMs: 60_000,
    play: (samples) => void played.push(samples.length),
    clear: (generation) => void cleared.push(generation),
    pause: (paused, heardSamples) => void pauses.push(`${paused} at ${heardSamples}`),
    ...options,
  });
  return { sink, output: sink.output, played, cleared, pauses };
}

/** Returns a function that gives the state of a promise once due events have run. */
function watch(wait: Promise<unknown>): () => Promise<"waiting" | "done"> {
  let state: "waiting" | "done" = "waiting";
  void wait.then(() => (state = "done"));
  return async () => {
    await settled();
    return state;
  };
}
