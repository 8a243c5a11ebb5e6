import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualClock } from "../clock.ts";
import { createKeypad, isKey, keyTones } from "./keypad.ts";

function recorded() {
  const clock = createVirtualClock();
  const pressed: string[] = [];
  const keypad = createKeypad({ clock, onKey: (digit) => void pressed.push(`${digit} ${clock.nowMs()}`) });
  return { clock, pressed, keypad };
}

test("keys come one after the other, w waits", () => {
  const { clock, pressed, keypad } = recorded();
  keypad.press("1w2");
  keypad.press("#");
  assert.ok(keypad.isBusy);
  clock.runFor(2000);
  assert.deepEqual(pressed, ["1 0", "2 700", "# 900"]);
  assert.ok(!keypad.isBusy);
  keypad.press("*");
  assert.equal(pressed.at(-1), "* 2000");
});

test("stop forgets the rest", () => {
  const { clock, pressed, keypad } = recorded();
  keypad.press("123");
  keypad.stop();
  clock.runFor(1000);
  assert.deepEqual(pressed, ["1 0"]);
  assert.equal(clock.pendingTimers, 0);
});

test("keys a telephone does not have are refused, all of them", () => {
  const { pressed, keypad } = recorded();
  for (const digits of ["1a", "E", " ", "１", "W"]) assert.throws(() => keypad.press(digits), RangeError);
  assert.deepEqual(pressed, []);
  for (const name of ["toString", "", "12", "d"]) assert.ok(!isKey(name));
});

test("every key has its two tones", () => {
  const pairs: Record<string, [number, number]> = {
    1: [697, 1209],
    5: [770, 1336],
    9: [852, 1477],
    "#": [941, 1477],
    A: [697, 1633],
    D: [941, 1633],
  };
  const all = [697, 770, 852, 941, 1209, 1336, 1477, 1633];
  for (const [key, pair] of Object.entries(pairs)) {
    const tone = keyTones(key, 8000).subarray(0, 800);
    const [first, second] = all.toSorted((a, b) => strength(tone, b) - strength(tone, a));
    assert.deepEqual(
      [first, second].toSorted((a, b) => a! - b!),
      pair,
      key,
    );
  }
  assert.equal(keyTones("1x2", 8000).length, 2 * 1600);
  assert.equal(keyTones("", 8000).length, 0);
});

function strength(samples: Int16Array, hz: number): number {
  let real = 0;
  let imaginary = 0;
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * at) / 8000);
    imaginary += sample * Math.sin((2 * Math.PI * hz * at) / 8000);
  }
  return Math.hypot(real, imaginary);
}
