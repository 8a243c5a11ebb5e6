import type { AudioFrame } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import type { Transport } from "../transports/transport.ts";
import type { VoiceActivity } from "./voice-activity.ts";
import { detectTurns } from "./turns.ts";

test("tells the client and silences the bot", async () => {
  const { transport, calls, speak } = createFakeTransport();
  speak("...####....");
  const turns = detectTurns(transport, options());
  assert.equal((await turns.next()).value?.type, "turn-start");
  assert.equal((await turns.next()).value?.type, "turn-end");
  assert.deepEqual(calls, ["clear", "userStartedSpeaking", "userStoppedSpeaking"]);
});

test("interrupts a bot that is heard, or about to be", async () => {
  for (const begin of ["started", "queued", "stopped"] as const) {
    const { transport, calls, speak, bot } = createFakeTransport();
    const turns = detectTurns(transport, options());
    const next = turns.next();
    if (begin === "queued") bot.queuedMs = 500;
    else bot.emit("started");
    if (begin === "stopped") bot.emit("stopped");
    speak("####");
    await next;
    assert.deepEqual(calls, [
      "clear",
      "userStartedSpeaking",
      ...(begin === "stopped" ? [] : ["botInterrupted"]),
    ]);
  }
});

test("interrupts while the caller is busy with the event before", async () => {
  const { transport, calls, speak } = createFakeTransport();
  speak("####....");
  const turns = detectTurns(transport, options());
  await turns.next();
  await turns.next();
  calls.length = 0;
  speak("####");
  await settled();
  assert.deepEqual(calls, ["clear", "userStartedSpeaking"]);
  assert.equal((await turns.next()).value?.type, "turn-start");
});

test("says what was heard of a bot that it silenced", async () => {
  const { transport, speak, bot } = createFakeTransport();
  bot.queuedMs = 500;
  speak("####....####");
  const turns = detectTurns(transport, options());
  assert.deepEqual((await turns.next()).value, {
    type: "turn-start",
    interrupted: { playedMs: 120, interrupted: true },
  });
  await turns.next();
  bot.queuedMs = 0;
  speak("....####");
  await turns.next(); // began while the bot was still queued
  await turns.next();
  assert.deepEqual((await turns.next()).value, { type: "turn-start" });
});

test("leaves it to the caller to silence the bot, and tells the client all the same", async () => {
  for (const [interrupt, expected] of [
    [false, ["userStartedSpeaking", "userStoppedSpeaking"]],
    ["pause", ["pause", "userStartedSpeaking", "userStoppedSpeaking"]],
  ] as const) {
    const { transport, calls, speak, bot } = createFakeTransport();
    bot.queuedMs = 500;
    speak("####....");
    const turns = detectTurns(transport, { ...options(), interrupt });
    assert.deepEqual((await turns.next()).value, { type: "turn-start" });
    await turns.next();
    assert.deepEqual(calls, expected);
  }
});

test("holds nothing back when the bot is silent anyway", async () => {
  const { transport, calls, speak } = createFakeTransport();
  speak("####");
  await detectTurns(transport, { ...options(), interrupt: "pause" }).next();
  assert.deepEqual(calls, ["userStartedSpeaking"]);
});

test("tells the client nothing when told so", async () => {
  const { transport, calls, speak, bot } = createFakeTransport();
  bot.queuedMs = 500;
  speak("####....");
  const turns = detectTurns(transport, { ...options(), announce: false });
  await turns.next();
  await turns.next();
  assert.deepEqual(calls, ["clear"]);
});

test("ends with the audio, after the last event", async () => {
  const { transport, speak, end, bot } = createFakeTransport();
  speak("####....####....");
  end();
  const types: string[] = [];
  for await (const event of detectTurns(transport, options())) types.push(event.type);
  assert.deepEqual(types, ["turn-start", "turn-end", "turn-start", "turn-end"]);
  assert.equal(bot.listeners(), 0);
});

test("leaving the loop stops listening", async () => {
  const { transport, calls, speak, bot } = createFakeTransport();
  speak("####");
  for await (const event of detectTurns(transport, options())) {
    assert.equal(event.type, "turn-start");
    break;
  }
  assert.equal(bot.listeners(), 0);
  calls.length = 0;
  speak("....####");
  await settled();
  assert.deepEqual(calls, []);
});

test("a failure reaches the caller, after the events before it", async () => {
  const { transport, speak } = createFakeTransport();
  speak("####!");
  const turns = detectTurns(transport, options());
  assert.equal((await turns.next()).value?.type, "turn-start");
  await assert.rejects(turns.next(), /cannot tell/);
});

test("a caller that never comes back finds the latest events", async () => {
  const { transport, speak, end } = createFakeTransport();
  const turns = detectTurns(transport, options());
  const first = turns.next();
  speak("####....".repeat(40));
  end();
  await first;
  await settled();
  let [events, last] = [0, ""];
  for await (const event of turns) {
    events++;
    last = event.type;
  }
  assert.ok(events <= 16, `${events} events`);
  assert.equal(last, "turn-end");
});

function options() {
  const voiceActivity: VoiceActivity = {
    windowMs: 20,
    process([sample]) {
      if (sample === 2) throw new Error("cannot tell");
      return [sample === 1];
    },
  };
  return { startMs: 60, endSilenceMs: 80, voiceActivity };
}

function createFakeTransport() {
  const calls: string[] = [];
  const frames: AudioFrame[] = [];
  const heard = { started: new Set<() => void>(), stopped: new Set<() => void>() };
  let wake = () => {};
  let ended = false;
  const bot = {
    queuedMs: 0,
    emit: (event: keyof typeof heard) => heard[event].forEach((listener) => listener()),
    listeners: () => heard.started.size + heard.stopped.size,
  };
  async function next(): Promise<IteratorResult<AudioFrame>> {
    while (frames.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
    const value = frames.shift();
    return value ? { value, done: false } : { value: undefined, done: true };
  }
  const transport = {
    audioIn: { sampleRateHz: 1000, droppedFrames: 0, [Symbol.asyncIterator]: () => ({ next }) },
    audioOut: {
      get queuedMs() {
        return bot.queuedMs;
      },
      clear() {
        calls.push("clear");
        return { playedMs: 120, interrupted: true };
      },
      pause: () => void calls.push("pause"),
      on: (event: keyof typeof heard, listener: () => void) => void heard[event].add(listener),
      off: (event: keyof typeof heard, listener: () => void) => void heard[event].delete(listener),
    },
    rtvi: {
      userStartedSpeaking: () => void calls.push("userStartedSpeaking"),
      userStoppedSpeaking: () => void calls.push("userStoppedSpeaking"),
      botInterrupted: () => void calls.push("botInterrupted"),
    },
  } as unknown as Transport;
  return {
    transport,
    calls,
    bot,
    /** A sign per frame of 20 ms: "#" is speech, "!" makes the detector fail. */
    speak: (signs: string) => {
      for (const sign of signs) {
        frames.push({ samples: new Int16Array(20).fill(".#!".indexOf(sign)), sampleRateHz: 1000 });
      }
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
  };
}
