import { samplesIn } from "@vocalhost/audio";
import type { Clock } from "../clock.ts";

/** Presses keys one after the other, as fast as a finger does. */
export function createKeypad(options: KeypadOptions): Keypad {
  const { clock, onKey } = options;
  const waiting: string[] = [];
  let cancelTimer: (() => void) | undefined;

  function pressNext(): void {
    const character = waiting.shift();
    cancelTimer = undefined;
    if (character === undefined) return;
    const stepMs = character === "w" ? KEY_PAUSE_MS : KEY_TONE_MS + KEY_GAP_MS;
    cancelTimer = clock.setTimer(pressNext, stepMs);
    if (character !== "w") onKey(character);
  }

  return {
    press(digits) {
      requireKeys(digits);
      waiting.push(...digits);
      if (!cancelTimer) pressNext();
    },
    stop() {
      waiting.length = 0;
      cancelTimer?.();
      cancelTimer = undefined;
    },
    get isBusy() {
      return cancelTimer !== undefined;
    },
  };
}

interface KeypadOptions {
  clock: Clock;
  onKey: (digit: string) => void;
}

interface Keypad {
  /** 0-9, *, # and A-D; a `w` waits half a second. Throws a RangeError on anything else. */
  press(digits: string): void;
  stop(): void;
  readonly isBusy: boolean;
}

const KEY_TONE_MS = 100;
const KEY_GAP_MS = 100;
const KEY_PAUSE_MS = 500; // of a "w" among the keys, as carriers' dial strings have it

/** Whether a telephone has this key. */
export function isKey(character: string): boolean {
  return Object.hasOwn(TONES_HZ, character);
}

/** Throws a RangeError unless there are only keys, and `w` for a pause. */
export function requireKeys(digits: string): void {
  const wrong = [...digits].find((character) => character !== "w" && !isKey(character));
  if (wrong !== undefined) throw new RangeError(`"${wrong}" is not a telephone key`);
}

/** The sound of the keys, one after the other; other characters are left out. */
export function keyTones(digits: string, sampleRateHz: number): Int16Array {
  const pressed = [...digits].filter(isKey);
  const toneSamples = samplesIn(KEY_TONE_MS, sampleRateHz);
  const stepSamples = toneSamples + samplesIn(KEY_GAP_MS, sampleRateHz);
  const samples = new Int16Array(pressed.length * stepSamples);
  for (const [index, key] of pressed.entries()) {
    const [lowHz, highHz] = TONES_HZ[key]!;
    for (let at = 0; at < toneSamples; at++) {
      const turns = (2 * Math.PI * at) / sampleRateHz;
      samples[index * stepSamples + at] = Math.round(
        TONE_LEVEL * (Math.sin(turns * lowHz) + Math.sin(turns * highHz)),
      );
    }
  }
  return samples;
}

const TONE_LEVEL = 6000; // of each of the two tones
const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];
const KEYPAD = ["123A", "456B", "789C", "*0#D"];

const TONES_HZ: Record<string, readonly [number, number]> = Object.fromEntries(
  KEYPAD.flatMap((row, rowAt) =>
    [...row].map((key, columnAt) => [key, [ROWS_HZ[rowAt]!, COLUMNS_HZ[columnAt]!]]),
  ),
);
