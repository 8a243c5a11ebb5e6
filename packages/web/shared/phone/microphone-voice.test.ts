import assert from "node:assert/strict";
import { test } from "node:test";
import { createMicrophoneVoice } from "./microphone-voice.ts";

const RATE_HZ = 1000; // one sample a millisecond
const line = { atMs: 0, botTalkingSinceMs: undefined, botLastHeardMs: undefined };
const sound = (samples: number, value = 1) => new Int16Array(samples).fill(value);

test("the voice begins when there is a cushion, and then flows", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(20));
  assert.deepEqual(voice.next(20, line), sound(20, 0));
  voice.hear(sound(20));
  assert.deepEqual(voice.next(20, line), sound(20, 0));
  for (let chunk = 0; chunk < 10; chunk++) {
    voice.hear(sound(20));
    assert.deepEqual(voice.next(20, line), sound(20));
  }
});

test("a microphone that stops leaves silence and fills its cushion again", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(50));
  assert.deepEqual(voice.next(20, line), sound(20));
  assert.deepEqual(voice.next(20, line), sound(20));
  assert.deepEqual(voice.next(20, line), Int16Array.of(...sound(10), ...sound(10, 0)));
  voice.hear(sound(40));
  assert.deepEqual(voice.next(20, line), sound(20, 0));
  voice.hear(sound(10));
  assert.deepEqual(voice.next(20, line), sound(20));
});

test("a voice that stays behind catches up, with its newest sound", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(400, 1));
  for (let chunk = 0; chunk < 50; chunk++) {
    voice.hear(sound(20, 2));
    voice.next(20, line);
  }
  voice.hear(sound(20, 3));
  const soon = [voice.next(20, line), voice.next(20, line)].flatMap((samples) => [...samples]);
  assert.ok(soon.includes(3), "what is said now is sent at once");
});

test("a page that asks in bursts loses nothing", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(40));
  for (let burst = 0; burst < 10; burst++) {
    voice.hear(sound(400));
    for (let chunk = 0; chunk < 20; chunk++) assert.deepEqual(voice.next(20, line), sound(20));
  }
});

test("a page that slept keeps the newest seconds only", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(9000, 1));
  voice.hear(sound(5000, 2));
  assert.deepEqual(voice.next(20, line), sound(20, 2));
});

test("muting forgets what has not been sent", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(100));
  voice.mute();
  assert.deepEqual(voice.next(20, line), sound(20, 0));
});
