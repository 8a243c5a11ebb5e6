import { samplesIn } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { createPlayout, type PlayoutOptions } from "./playout.ts";

test("plays in equal chunks at real time, and tells of silence", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(60));
  clock.runUntil(85);
  assert.deepEqual(sent, ["0: 1…20", "20: 21…40", "40: 41…60", "60: -", "80: -"]);
  assert.equal(playout.playedSamples, 60);
  assert.equal(playout.queuedSamples, 0);
});

test("a short tail waits one interval for its rest, then silence completes it", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(25));
  clock.runUntil(65);
  assert.deepEqual(sent, ["0: 1…20", "20: -", "40: 21…25+15", "60: -"]);
  assert.equal(playout.playedSamples, 25);
});

test("a tail whose rest comes in time is not padded", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(25));
  clock.runUntil(25);
  playout.write(ramp(15, 26));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: 1…20", "20: -", "40: 21…40"]);
});

test("says when the bot begins to be heard, and when it has been quiet for a while", () => {
  const { playout, clock, speaking } = start();
  clock.runUntil(50);
  assert.deepEqual(speaking, []);
  playout.write(ramp(20));
  clock.runUntil(150);
  playout.write(ramp(20)); // a breath, not a pause
  clock.runUntil(1000);
  assert.deepEqual(speaking, ["60: true", "400: false"]); // 240 ms after the chunk at 160 ms
});

test("tells how far it has got while it plays, and at the end", () => {
  const { playout, clock, progress } = start();
  playout.write(ramp(250));
  clock.runUntil(1000);
  assert.deepEqual(progress, ["80: 100", "180: 200", "260: 250"]);
});

test("clearing is silence at once, and counting from zero", () => {
  const { playout, clock, sent, speaking, progress } = start();
  playout.write(ramp(1000));
  clock.runUntil(25);
  playout.clear();
  assert.equal(playout.queuedSamples, 0);
  assert.equal(playout.playedSamples, 0);
  assert.deepEqual(speaking, ["0: true", "25: false"]);
  clock.runUntil(45);
  assert.equal(sent.at(-1), "40: -");
  playout.write(ramp(20));
  clock.runUntil(65);
  assert.equal(sent.at(-1), "60: 1…20");
  assert.equal(progress.at(-1), "60: 20");
  assert.equal(speaking.at(-1), "60: true");
});

test("a held tail does not outlive clearing", () => {
  const { playout, clock, sent } = start();
  playout.write(ramp(5));
  clock.runUntil(5);
  playout.clear();
  playout.write(ramp(5, 100));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: -", "20: -", "40: 100…104+15"]);
});

test("a pause is silence that keeps the rest, and clearing ends it", () => {
  const { playout, clock, sent, speaking } = start();
  playout.write(ramp(60));
  clock.runUntil(25);
  playout.pause(true);
  clock.runUntil(505);
  assert.deepEqual([sent.at(1), sent.at(2), sent.at(-1)], ["20: 21…40", "40: -", "500: -"]);
  assert.deepEqual(speaking, ["0: true", "25: false"]);
  playout.pause(false);
  clock.runUntil(525);
  assert.equal(sent.at(-1), "520: 41…60");
  playout.pause(true);
  playout.clear();
  playout.write(ramp(20));
  clock.runUntil(545);
  assert.equal(sent.at(-1), "540: 1…20");
});

test("what was sent too early is taken back, to the sample, as far as it is remembered", () => {
  const { playout, clock, sent } = start({ rewindMs: 60 });
  playout.write(ramp(110));
  clock.runUntil(85);
  playout.rewind(50);
  assert.deepEqual([playout.playedSamples, playout.queuedSamples], [50, 60]);
  playout.rewind(45);
  assert.equal(playout.playedSamples, 45);
  playout.rewind(0);
  assert.equal(playout.playedSamples, 40, "what came before is forgotten");
  clock.runUntil(105);
  assert.equal(sent.at(-1), "100: 41…60");
  clock.runUntil(500);
  assert.equal(playout.playedSamples, 110);
  playout.rewind(105);
  assert.equal(playout.queuedSamples, 5, "of the silence after the last nothing comes back");
  playout.clear();
  playout.rewind(0);
  assert.equal(playout.queuedSamples, 0);
});

test("stopped, it says that the bot is not heard and ticks no more", () => {
  const { playout, clock, sent, speaking } = start();
  playout.write(ramp(100));
  clock.runUntil(5);
  playout.stop();
  playout.stop();
  clock.runUntil(500);
  assert.deepEqual(sent, ["0: 1…20"]);
  assert.deepEqual(speaking, ["0: true", "5: false"]);
  assert.equal(clock.pending, 0);
});

test("takes what fits under the cap", () => {
  const { playout } = start({ maxQueuedMs: 50 });
  assert.equal(playout.write(ramp(40)), 40);
  assert.equal(playout.write(ramp(40)), 10);
  assert.equal(playout.queuedSamples, 50);
});

test("a lead is sent ahead when speech begins, and kept", () => {
  const { playout, clock, sent } = start({ leadMs: 40 });
  playout.write(ramp(100));
  clock.runUntil(45);
  assert.deepEqual(sent, ["0: 1…20", "0: 21…40", "0: 41…60", "20: 61…80", "40: 81…100"]);
  clock.runUntil(990);
  playout.write(ramp(100));
  clock.runUntil(1005);
  assert.deepEqual(sent.slice(-3), ["1000: 1…20", "1000: 21…40", "1000: 41…60"]);
});

test("the lead is there again after every hold-up, and only what outlasts it is heard", () => {
  // Every second tick is 100 ms late, one of them 300 ms.
  const heldUpMs = (dueMs: number): number => (dueMs === 60_000 ? 300 : dueMs % 1_000 === 0 ? 100 : 0);
  const clock = createManualClock({ latenessMs: heldUpMs });
  const ear = listenAt(clock);
  const { playout } = start({ chunkMs: 40, leadMs: 120, maxQueuedMs: 600_000, send: ear.take, clock });
  playout.write(ramp(400_000));
  for (let atMs = 950; atMs < 300_000; atMs += 1_000) {
    clock.runUntil(atMs);
    assert.ok(ear.heldMs() >= 100, `${ear.heldMs()} ms are left after ${atMs} ms`);
    assert.ok(ear.heldMs() <= 180, `${ear.heldMs()} ms are ahead after ${atMs} ms`);
  }
  assert.ok(ear.missedMs() >= 100 && ear.missedMs() <= 200, `${ear.missedMs()} ms were missing`);
});

test("the pace stays even when timers are a little late, wherever the first of them left us", () => {
  for (let firstLateMs = 0; firstLateMs < 40; firstLateMs += 1) {
    const clock = createManualClock({
      latenessMs: (dueMs) => (dueMs === 0 ? firstLateMs : (dueMs / 40) % 3),
    });
    const perTick = new Map<number, number>();
    const count = (chunk: Int16Array | undefined): void => {
      const tick = Math.floor(clock.nowMs() / 40);
      perTick.set(tick, (perTick.get(tick) ?? 0) + (chunk ? 1 : 0));
    };
    const { playout } = start({ chunkMs: 40, leadMs: 120, maxQueuedMs: 20_000, send: count, clock });
    playout.write(ramp(20_000));
    clock.runUntil(10_000);
    const uneven = [...perTick].filter(([tick, chunks]) => tick > 0 && chunks !== 1);
    assert.ok(
      uneven.length <= 1,
      `first tick ${firstLateMs} ms late, then ${JSON.stringify(uneven.slice(0, 6))}`,
    );
  }
});

test("a lead is not sent again for a breath", () => {
  const { playout, clock, sent } = start({ leadMs: 40 });
  playout.write(ramp(60));
  clock.runUntil(30); // 60 ms were sent, half of which are still to be heard
  playout.write(ramp(100, 61));
  clock.runUntil(45);
  assert.deepEqual(sent.slice(3), ["20: -", "40: 61…80", "40: 81…100"]);
});

test("the bot is heard until the other side has played everything", () => {
  const { playout, clock, speaking } = start({ leadMs: 400 });
  playout.write(ramp(400));
  clock.runUntil(1_000);
  assert.deepEqual(speaking, ["0: true", "400: false"]);
});

test("the sound comes at the rate of the wire, all of it, and nothing of it comes later", () => {
  for (const { sampleRateHz, clear } of [
    { sampleRateHz: 24_000, clear: false },
    { sampleRateHz: 24_000, clear: true },
    { sampleRateHz: 16_000, clear: false },
    { sampleRateHz: 8_000, clear: false },
  ]) {
    const pieces: Int16Array[] = [];
    const { playout, clock } = start({
      sampleRateHz,
      wireHz: 8_000,
      leadMs: 40,
      send: (chunk) => void (chunk && pieces.push(chunk)),
    });
    playout.write(new Int16Array(samplesIn(200, sampleRateHz)).fill(10_000));
    clock.runUntil(clear ? 100 : 1_000);
    if (clear) playout.clear();
    const before = pieces.length;
    playout.write(new Int16Array(samplesIn(200, sampleRateHz)));
    clock.runUntil(2_000);
    assert.ok(pieces.every(({ length }) => length === 160));
    const after = pieces.slice(before).flatMap((piece) => [...piece]);
    assert.ok(after.length >= 1_600 && after.every((sample) => sample === 0), `${sampleRateHz} Hz: a click`);
    const heard = pieces
      .slice(0, before)
      .reduce((sum, piece) => sum + piece.filter((s) => s > 5_000).length, 0);
    if (!clear) assert.ok(Math.abs(heard - 1_600) <= 1, `${sampleRateHz} Hz: ${heard} samples of 1600`);
  }
});

test("a stream that is written at real time is not broken by its end being in sight", () => {
  const pieces: Int16Array[] = [];
  const { playout, clock } = start({
    sampleRateHz: 16_000,
    wireHz: 8_000,
    chunkMs: 40,
    leadMs: 80,
    send: (chunk) => void (chunk && pieces.push(chunk)),
  });
  playout.write(new Int16Array(1_600).fill(10_000));
  for (let atMs = 20; atMs <= 2_000; atMs += 20) {
    clock.runUntil(atMs);
    playout.write(new Int16Array(320).fill(10_000));
  }
  const heard = pieces.flatMap((piece) => [...piece]).slice(80, -80);
  assert.ok(
    heard.length > 14_000 && heard.every((sample) => Math.abs(sample - 10_000) < 20),
    "no gap, no dip",
  );
});

test("what sending throws is reported and does not stop the rest", () => {
  const errors: unknown[] = [];
  let calls = 0;
  const { clock } = start({
    send() {
      calls += 1;
      throw new Error("line down");
    },
    onError: (error) => void errors.push((error as Error).message),
  });
  clock.runUntil(25);
  assert.equal(calls, 2);
  assert.deepEqual(errors, ["line down", "line down"]);
});

interface StartOptions extends Omit<Partial<PlayoutOptions>, "clock"> {
  clock?: ManualClock;
}

/** The other side: plays audio in real time, and records when it had none. */
function listenAt(clock: ManualClock) {
  let untilMs: number | undefined;
  let missed = 0;
  return {
    take(chunk: Int16Array | undefined) {
      if (!chunk) return;
      const nowMs = clock.nowMs();
      missed += Math.max(0, nowMs - (untilMs ?? nowMs));
      untilMs = Math.max(untilMs ?? nowMs, nowMs) + chunk.length;
    },
    heldMs: () => (untilMs ?? 0) - clock.nowMs(),
    missedMs: () => missed,
  };
}

/** At 1000 Hz one sample is one millisecond; chunks of 20 ms. Each event is noted with its time. */
function start({ clock = createManualClock(), ...options }: StartOptions = {}) {
  const [sent, speaking, progress]: [string[], string[], string[]] = [[], [], []];
  const playout = createPlayout({
    sampleRateHz: 1000,
    chunkMs: 20,
    maxQueuedMs: 10_000,
    send: (chunk) => void sent.push(`${clock.nowMs()}: ${chunk ? shown(chunk) : "-"}`),
    speaking: (isSpeaking) => void speaking.push(`${clock.nowMs()}: ${isSpeaking}`),
    progress: () => void progress.push(`${clock.nowMs()}: ${playout.playedSamples}`),
    clock,
    ...options,
  });
  playout.start();
  return { playout, clock, sent, speaking, progress };
}

function ramp(length: number, first = 1): Int16Array {
  return Int16Array.from({ length }, (_, at) => first + at);
}

/** Shows the first and last sample, and the number of zeros after them. */
function shown(chunk: Int16Array): string {
  const last = chunk.findLastIndex((sample) => sample !== 0);
  const padding = chunk.length - 1 - last;
  return `${chunk[0]}…${chunk[last]}${padding > 0 ? `+${padding}` : ""}`;
}
