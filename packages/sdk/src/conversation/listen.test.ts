import { FRAME_MS, parseWav, samplesIn, type AudioFrame } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createBoundedStream } from "../transports/bounded-stream.ts";
import { adaptiveSilence, fixedSilence, type EndOfTurn } from "../speech/end-of-turn.ts";
import { createVoiceActivityDetector, type VoiceActivity } from "../speech/voice-activity.ts";
import { gateVolume } from "../speech/volume-gate.ts";
import { listen, type UserTurn } from "./listen.ts";

const RATE_HZ = 16_000;
const { samples: SPEECH } = parseWav(
  readFileSync(new URL("../speech/fixtures/table-for-two.wav", import.meta.url)),
);

const LAST_WORD_MS = 3_680; // in the recording

/** Returns all events for this audio, on a clock that only the audio advances. */
async function hear(
  samples: Int16Array,
  voiceActivity: VoiceActivity,
  endOfTurn: EndOfTurn = fixedSilence(300),
  options: {
    stall?: (ms: number, wait: (ms: number) => void) => Promise<void>;
    expectedErrors?: number;
    text?: (part: number) => string;
  } = {},
) {
  const frames = createBoundedStream<AudioFrame>({ maxItems: 10_000, name: "test" });
  const written: number[] = [];
  const turns: UserTurn[] = [];
  const errors: unknown[] = [];
  let nowMs = 0;
  let flushes = 0;
  const listening = listen({
    audioIn: Object.assign(frames, {
      sampleRateHz: RATE_HZ,
      droppedFrames: 0,
      flush: () => undefined,
      tee: () => assert.fail("nobody else listens"),
    }),
    voiceActivity,
    stt: {
      write: (frame) => void written.push(frame.samples.length),
      flush: () => Promise.resolve((options.text ?? ((part) => `part ${part}`))((flushes += 1))),
    },
    endOfTurn,
    limits: { startMs: 100, stopMs: 200, preRollMs: 300, maxStretchMs: 60_000 },
    signal: new AbortController().signal,
    nowMs: () => nowMs,
    started: () => undefined,
    understood: () => undefined,
    ended: (turn) => void turns.push(turn),
    botWasHeard: () => false,
    failed: (error) => void errors.push(error),
  });
  const perFrame = samplesIn(FRAME_MS, RATE_HZ);
  for (let at = 0; at + perFrame <= samples.length; at += perFrame) {
    nowMs += FRAME_MS;
    frames.push({ samples: samples.slice(at, at + perFrame), sampleRateHz: RATE_HZ });
    await setImmediate();
    await options.stall?.(nowMs, (ms) => void (nowMs += ms));
  }
  frames.end();
  await listening.ended;
  assert.equal(errors.length, options.expectedErrors ?? 0, errors.join());
  return { turns, writtenMs: (written.reduce((sum, length) => sum + length, 0) * 1000) / RATE_HZ };
}

/** Scales samples to this mean power. */
function atLevel(samples: Int16Array, dbfs: number): Int16Array {
  const power = samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / samples.length;
  const gain = 10 ** (dbfs / 20) / Math.sqrt(power);
  return samples.map((sample) => Math.round(sample * gain));
}

/** The sentence, then ten seconds of television only. */
function beforeTelevision(): Int16Array {
  const television = atLevel(SPEECH, -30);
  const user = atLevel(SPEECH, -18);
  return Int16Array.from({ length: 12 * RATE_HZ }, (_, at) => {
    // The television's words differ from the user's at any moment.
    const heard = television[(at + (television.length >> 1)) % television.length]!;
    return Math.max(-32_768, Math.min(32_767, (user[at] ?? 0) + heard));
  });
}

test("a television does not hold a turn open, unless the volume gate is off", async () => {
  const detector = createVoiceActivityDetector({ sampleRateHz: RATE_HZ });
  const gated = await hear(beforeTelevision(), gateVolume(detector, { sampleRateHz: RATE_HZ }));
  detector.free();
  const [turn] = gated.turns;
  assert.ok(turn && turn.decidedAtMs < LAST_WORD_MS + 1_000, JSON.stringify(gated.turns));
  const open = createVoiceActivityDetector({ sampleRateHz: RATE_HZ });
  const { turns } = await hear(beforeTelevision(), open);
  open.free();
  assert.ok(
    turns.every(({ decidedAtMs }) => decidedAtMs > LAST_WORD_MS + 2_500),
    JSON.stringify(turns),
  );
});

/** Makes speech from a pattern: `x` is 100 ms of speech, `.` 100 ms of silence. */
function written(line: string): [Int16Array, VoiceActivity] {
  const samples = Int16Array.from({ length: line.length * samplesIn(100, RATE_HZ) }, (_, at) =>
    line[Math.floor(at / samplesIn(100, RATE_HZ))] === "x" ? 8_000 : 0,
  );
  const perWindow = samplesIn(20, RATE_HZ);
  return [
    samples,
    {
      windowMs: 20,
      process: (frame) =>
        Array.from({ length: frame.length / perWindow }, (_, at) => frame[at * perWindow] !== 0),
    },
  ];
}

test("pauses are parts of a turn until one is long enough", async () => {
  const { turns, writtenMs } = await hear(...written("....xxxxx..xxxxx....."));
  assert.deepEqual(
    turns.map(({ text, speechMs }) => [text, speechMs]),
    [["part 1 part 2", 1_000]],
  );
  const [turn] = turns;
  assert.ok(turn);
  assert.ok(Math.abs(turn.speechEndedAtMs - 1_600) <= 20, `${turn.speechEndedAtMs}`);
  assert.ok(Math.abs(turn.decidedAtMs - 1_900) <= 40, `${turn.decidedAtMs}`);
  // From 300 ms before the speech to 200 ms after it, and none of the silence that followed.
  assert.ok(Math.abs(writtenMs - 1_700) <= 60, `${writtenMs} ms were sent`);
});

test("continued speech is remembered, also when the turn had been ended", async () => {
  const spokeOn: number[] = [];
  const judge: EndOfTurn = { silenceMs: () => 300, spokeOn: (ms) => void spokeOn.push(ms) };
  const { turns } = await hear(...written("....xxxxx..xxxxx......xxxxx......"), judge);
  assert.equal(turns.length, 2);
  assert.equal(spokeOn.length, 2);
  assert.ok(Math.abs(spokeOn[0]! - 200) <= 40 && Math.abs(spokeOn[1]! - 600) <= 60, spokeOn.join());
});

test("a client that sends nothing for long has stopped; a stall of this process is no silence", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const look = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at += 1) {
      context.mock.timers.tick(200);
      await setImmediate();
    }
  };
  const stalled = await hear(...written("....xxxxxxxxxx....."), fixedSilence(300), {
    // The check for missing frames runs first after the stall.
    async stall(ms, wait) {
      if (ms !== 900) return;
      wait(1_500);
      await look(1);
    },
  });
  assert.deepEqual(
    stalled.turns.map(({ text }) => text),
    ["part 1"],
  );
  for (const [line, looks] of [
    ["....xxxxx", 12], // within a word
    ["....xxxx.", 6],
  ] as const)
    for (const [more, turns] of [
      [-1, 0],
      [0, 1],
    ] as const) {
      const muted = await hear(...written(line), fixedSilence(300), {
        async stall(ms) {
          if (ms === 900) await look(looks + more);
        },
      });
      assert.equal(muted.turns.length, turns, `${line}, ${looks + more} looks`);
    }
});

test("a judge of turns that fails is told, and the turn still ends", async () => {
  const failing: EndOfTurn = { silenceMs: () => Promise.reject(new Error("no weights")) };
  const { turns } = await hear(...written("....xxxxx..........."), failing, { expectedErrors: 1 });
  assert.equal(turns.length, 1);
  assert.ok(Math.abs(turns[0]!.decidedAtMs - 900 - 700) <= 60, `${turns[0]!.decidedAtMs}`);
});

test("a judge can begin where the pause does", async () => {
  const told: string[] = [];
  const judge: EndOfTurn = {
    paused: ({ speechMs, audio }) => void told.push(`paused ${speechMs} ${audio.sampleRateHz}`),
    silenceMs: ({ text }) => told.push(text) && 300,
  };
  await hear(...written("....xxxxx....."), judge);
  assert.deepEqual(told, ["paused 500 16000", "part 1"]);
});

const said: [line: string, parts: string[], whole: string, silenceMs: number][] = [
  ["....xxxxxxxx..........", ["What time do you open?"], "What time do you open?", 300],
  ["....xxxx........xxxx..............", ["Twenty", "three"], "Twenty three", 900],
  [
    "....xxxxxx.............xxxxx........",
    ["I would like, um", "a table."],
    "I would like, um a table.",
    300,
  ],
  ["....xxxx..........xxxx........", ["It was Monday and", "Tuesday."], "It was Monday and Tuesday.", 300],
];
for (const [line, parts, whole, silenceMs] of said)
  test(`"${parts.join(" … ")}" is one turn, over ${silenceMs} ms after its last word`, async () => {
    const { turns } = await hear(...written(line), adaptiveSilence(), {
      text: (part) => parts[part - 1] ?? "",
    });
    assert.deepEqual(
      turns.map(({ text }) => text),
      [whole],
    );
    const lastWordMs = (line.lastIndexOf("x") + 1) * 100;
    const waitedMs = turns[0]!.decidedAtMs - lastWordMs;
    assert.ok(Math.abs(waitedMs - silenceMs) <= 60, `${waitedMs} ms`);
  });
