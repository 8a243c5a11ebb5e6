import { frameMs, parseWav } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createTurnDetector } from "./turn-detector.ts";
import type { TurnDetectorOptions, TurnEvent } from "./turn-detector.ts";
import type { VoiceActivity } from "./voice-activity.ts";

const options = { startMs: 100, endSilenceMs: 200, preRollMs: 150, maxTurnMs: 1000 };

test("the audio of a turn is what was heard then", () => {
  for (const frameSamples of [1, 20, 33, 50, 5000]) {
    const events = run(`${".".repeat(5)}####........##....`, frameSamples);
    assert.deepEqual(
      events.map(({ type }) => type),
      ["turn-start", "turn-end", "turn-start", "turn-end"],
    );
    const [first, second] = events.filter((event) => event.type === "turn-end");
    assert.deepEqual(span(first!.audio.samples), [100, 650]);
    assert.equal(first!.durationMs, 200);
    assert.deepEqual(span(second!.audio.samples), [700, 1150]);
  }
});

test("a turn that is too long is cut without a gap", () => {
  const ends = run("#".repeat(50), 20).filter((event) => event.type === "turn-end");
  assert.deepEqual(
    ends.map(({ reason }) => reason),
    ["max-length", "max-length"],
  );
  assert.deepEqual(
    ends.map(({ audio }) => span(audio.samples)),
    [
      [0, 1000],
      [1000, 2000],
    ],
  );
});

test("frames may be reused after the call", () => {
  const detector = createTurnDetector({ ...options, voiceActivity: fakeActivity("####....") });
  const samples = new Int16Array(50);
  const events: TurnEvent[] = [];
  for (let i = 0; i < 8; i++)
    events.push(...detector.process({ samples: samples.fill(i), sampleRateHz: 1000 }));
  const end = events.find((event) => event.type === "turn-end");
  assert.deepEqual([end?.audio.samples[0], end?.audio.samples.at(-1)], [0, 7]);
});

test("only the caller opens a turn, and every voice goes on with it", () => {
  const heard = (shares: (number | undefined)[]): string => {
    const detector = createTurnDetector({
      ...options,
      voiceActivity: fakeActivity("#".repeat(shares.length)),
    });
    return shares
      .map((nearShare) => {
        const frame = { samples: new Int16Array(50), sampleRateHz: 1000 };
        const [event] = detector.process(nearShare === undefined ? frame : { ...frame, nearShare });
        return event ? "!" : ".";
      })
      .join("");
  };
  assert.equal(heard([0, 0, 0, 0, 0, 0]), "......", "a stranger");
  assert.equal(heard([1, 1, 1, 1, 1, 1]), ".!....", "the caller");
  assert.equal(heard([0, 0, 0, 1, 1, 1]), "....!.", "the caller after a stranger");
  assert.equal(heard([1, 1, 0, 0, 0, 0]), ".!....", "a turn that is open stays open");
  assert.equal(heard(Array.from({ length: 4 })), ".!..", "no filter that judges");
});

test("the rate must not change, limits must make sense", () => {
  const detector = createTurnDetector({ voiceActivity: fakeActivity("") });
  detector.process({ samples: new Int16Array(10), sampleRateHz: 8000 });
  assert.throws(
    () => detector.process({ samples: new Int16Array(10), sampleRateHz: 16_000 }),
    /from 8000 to 16000 Hz/,
  );
  const refused: TurnDetectorOptions[] = [
    { startMs: -1 },
    { maxTurnMs: Infinity },
    { preRollMs: 10_001 },
    { endSilenceMs: Number.NaN },
  ];
  for (const wrong of refused) assert.throws(() => createTurnDetector(wrong), RangeError);
});

test("with the model: one turn, nothing of it lost", () => {
  const speech = parseWav(readFileSync(new URL("fixtures/table-for-two.wav", import.meta.url)));
  const detector = createTurnDetector();
  const events: TurnEvent[] = [];
  const times: number[] = [];
  for (let i = 0; i < speech.samples.length; i += 320) {
    const found = detector.process({
      samples: speech.samples.subarray(i, i + 320),
      sampleRateHz: 16_000,
    });
    events.push(...found);
    times.push(...found.map(() => (i + 320) / 16));
  }
  detector.free();
  assert.deepEqual(
    events.map(({ type }) => type),
    ["turn-start", "turn-end"],
  );
  const [startedMs, endedMs] = times as [number, number];
  assert.ok(startedMs > 1000 && startedMs < 1300, `opened at ${startedMs} ms`);
  assert.ok(endedMs > 4300 && endedMs < 4750, `closed at ${endedMs} ms`);
  const end = events[1]!;
  assert.ok(end.type === "turn-end" && end.reason === "silence");
  const lengthMs = frameMs(end.audio);
  assert.ok(lengthMs > 3074 && lengthMs < 3074 + 700, `${lengthMs} ms of audio`);
  assert.ok(end.durationMs > 2600 && end.durationMs < 3000, `${end.durationMs} ms of speech`);
});

/** At 1000 Hz, each sample carrying its own position; a sign per window of 50 ms, "#" is speech. */
function run(windows: string, frameSamples: number): TurnEvent[] {
  const detector = createTurnDetector({ ...options, voiceActivity: fakeActivity(windows) });
  const stream = Int16Array.from({ length: windows.length * 50 }, (_, i) => i);
  const events: TurnEvent[] = [];
  for (let i = 0; i < stream.length; i += frameSamples) {
    events.push(...detector.process({ samples: stream.subarray(i, i + frameSamples), sampleRateHz: 1000 }));
  }
  detector.free();
  return events;
}

function fakeActivity(windows: string): VoiceActivity {
  let [heard, decided] = [0, 0];
  return {
    windowMs: 50,
    process(samples) {
      heard += samples.length;
      const decisions: boolean[] = [];
      while ((decided + 1) * 50 <= heard) decisions.push(windows[decided++] === "#");
      return decisions;
    },
  };
}

function span(samples: Int16Array): [number, number] {
  samples.forEach((sample, i) => assert.equal(sample, samples[0]! + i));
  return [samples[0]!, samples.at(-1)! + 1];
}
