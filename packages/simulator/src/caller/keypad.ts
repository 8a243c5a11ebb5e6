import type { Clock } from "../clock.ts";
import { KEY_GAP_MS, KEY_PAUSE_MS, KEY_TONE_MS, requireKeys } from "./keys.ts";

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

export interface KeypadOptions {
  clock: Clock;
  onKey: (digit: string) => void;
}

export interface Keypad {
  /** 0-9, *, # and A-D; a `w` waits half a second. Throws a RangeError on anything else. */
  press(digits: string): void;
  stop(): void;
  readonly isBusy: boolean;
}
