import { decodeG711 } from "@vocalhost/audio";
import { fromBase64 } from "../carriers/wire-format.ts";
import { createSeededRandom } from "../seeded-random.ts";
import type { SurroundingName } from "./surrounding-names.ts";
import { TALKER_HZ, talkerRecording } from "./talker-recording.ts";

export const SOUND_HZ: number = TALKER_HZ;

/** Some seconds of it that can be repeated, at any level. */
export function renderSound(name: SurroundingName, seed: number): Float32Array {
  switch (name) {
    case "talker":
      return acrossTheRoom(talker(), { sampleRateHz: SOUND_HZ, reverberationS: 0.5 });
    case "babble":
      return acrossTheRoom(babble(), { sampleRateHz: SOUND_HZ, reverberationS: 0.7 });
    case "music":
      return music();
    case "noise":
      return noise(seed);
    default:
      return name satisfies never;
  }
}

/** Some words and a pause, as people do: in it a bot that listened to them begins to answer. */
function talker(): Float32Array {
  const words = wordsOfTalker();
  const loop = new Float32Array(words.length + TALKER_PAUSE_S * SOUND_HZ);
  loop.set(words);
  return loop;
}

function wordsOfTalker(): Float32Array {
  return Float32Array.from(decodeG711(fromBase64(talkerRecording) ?? new Uint8Array(0), "mulaw"));
}

/** Several people: the one we have, faster and slower, each at another word. */
function babble(): Float32Array {
  const voice = wordsOfTalker();
  const loop = new Float32Array(BABBLE_S * SOUND_HZ);
  for (const [index, speed] of BABBLE_SPEEDS.entries()) {
    const from = (index * voice.length) / BABBLE_SPEEDS.length;
    for (let at = 0; at < loop.length; at++) loop[at] = loop[at]! + between(voice, from + at * speed);
  }
  return loop;
}

function between(sound: Float32Array, at: number): number {
  const left = Math.floor(at) % sound.length;
  const part = at - Math.floor(at);
  return sound[left]! * (1 - part) + sound[(left + 1) % sound.length]! * part;
}

/** Four chords, plucked note by note, as telephones play them to those who wait. */
function music(): Float32Array {
  const note = Math.round(NOTE_S * SOUND_HZ);
  const notes = CHORDS.flatMap((chord) => [...chord, ...chord.toReversed()]);
  const loop = new Float32Array(notes.length * note);
  for (const [index, semitones] of notes.entries()) {
    const hz = 220 * 2 ** (semitones / 12);
    for (let at = 0; at < RINGING * note; at++) {
      const t = at / SOUND_HZ;
      let value = 0;
      for (let partial = 1; partial * hz < 3_400 && partial <= 6; partial++)
        value += (Math.sin(2 * Math.PI * partial * hz * t) / partial) * Math.exp(-3 * partial * t);
      const place = (index * note + at) % loop.length;
      loop[place] = loop[place]! + value;
    }
  }
  return loop;
}

/** A fan, a street: louder in the lows, and always the same. */
function noise(seed: number): Float32Array {
  const random = createSeededRandom(seed);
  let soft = 0;
  return Float32Array.from({ length: NOISE_S * SOUND_HZ }, () => {
    const white = 2 * random() - 1;
    soft = 0.92 * soft + 0.08 * white;
    return soft + 0.1 * white;
  });
}

const TALKER_PAUSE_S = 2.5;
const BABBLE_S = 8;
const BABBLE_SPEEDS = [0.84, 0.95, 1.08, 1.2];
const NOISE_S = 8;
const NOTE_S = 0.25;
const RINGING = 4; // notes
// In semitones above A: A minor, F, C, G.
const CHORDS = [
  [0, 3, 7, 12],
  [-4, 0, 3, 8],
  [3, 7, 10, 15],
  [-2, 2, 5, 10],
];

/**
 * Returns a sound from the other end of a room as a telephone records it: reflections only, no direct sound. For
 * endless loops, so the end of a loop still sounds at its beginning.
 */
function acrossTheRoom(
  loop: Float32Array,
  { sampleRateHz, reverberationS }: { sampleRateHz: number; reverberationS: number },
): Float32Array {
  const sound = new Float32Array(2 * loop.length); // the first round fills the room
  for (const delayS of WALLS_S) {
    const delay = Math.round(delayS * sampleRateHz);
    const kept = 10 ** ((-3 * delayS) / reverberationS);
    const memory = new Float32Array(delay);
    let soft = 0;
    for (let at = 0; at < sound.length; at++) {
      const returned = memory[at % delay]!;
      soft = 0.6 * returned + 0.4 * soft; // reflections lose high frequencies first
      memory[at % delay] = loop[at % loop.length]! + kept * soft;
      sound[at] = sound[at]! + returned;
    }
  }
  for (const delayS of SCATTER_S) scatter(sound, Math.round(delayS * sampleRateHz));
  return sound.slice(loop.length);
}

/** Spreads every echo over time without changing its colour. */
function scatter(sound: Float32Array, delay: number): void {
  const memory = new Float32Array(delay);
  for (let at = 0; at < sound.length; at++) {
    const before = memory[at % delay]!;
    const now = before - SPREAD * sound[at]!;
    memory[at % delay] = sound[at]! + SPREAD * now;
    sound[at] = now;
  }
}

const WALLS_S = [0.0297, 0.0371, 0.0411, 0.0437, 0.0503, 0.0571]; // no two have a common multiple nearby
const SCATTER_S = [0.005, 0.0017];
const SPREAD = 0.7;
