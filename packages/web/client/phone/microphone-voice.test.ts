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

test("what lies too far back is dropped, the newest is kept", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(400, 1));
  voice.hear(sound(50, 2));
  assert.deepEqual(voice.next(20, line), sound(20, 2));
});

test("muting forgets what has not been sent", () => {
  const voice = createMicrophoneVoice({ sampleRateHz: RATE_HZ });
  voice.hear(sound(100));
  voice.mute();
  assert.deepEqual(voice.next(20, line), sound(20, 0));
});
