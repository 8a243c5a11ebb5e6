import assert from "node:assert/strict";
import { test } from "node:test";
import { createPacer } from "./pacer.ts";
import { createTimerWheel } from "./timer-wheel.ts";

test("callbacks of one slot run together, at its end, in the order they came", () => {
  const { wheel, advance, log } = start();
  wheel.setTimer(log("b"), 3);
  wheel.setTimer(log("a"), 1);
  wheel.setTimer(log("later"), 6);
  assert.deepEqual(advance(4), []);
  assert.deepEqual(advance(1), ["5 b", "5 a"]);
  assert.deepEqual(advance(5), ["10 later"]);
});

test("what is cancelled does not run", () => {
  const { wheel, advance, log } = start();
  const cancel = wheel.setTimer(log("cancelled"), 5);
  wheel.setTimer(log("kept"), 5);
  cancel();
  assert.deepEqual(advance(20), ["5 kept"]);
});

test("a callback may set the next timer, even for now", () => {
  const { wheel, advance, log } = start();
  const again = log("again");
  wheel.setTimer(() => wheel.setTimer(again, 0), 5);
  assert.deepEqual(advance(20), ["10 again"]);
});

test("sleeps when nothing is to come, and wakes again", () => {
  const { wheel, advance, log, wakes } = start();
  wheel.setTimer(log("first"), 5);
  advance(1000);
  const before = wakes();
  advance(1000);
  assert.equal(wakes(), before);
  wheel.setTimer(log("second"), 5);
  assert.deepEqual(advance(5), ["2005 second"]);
});

test("after a long pause everything due runs at once, oldest first", () => {
  const { wheel, advance, log } = start();
  wheel.setTimer(log("a"), 5);
  wheel.setTimer(log("c"), 45);
  wheel.setTimer(log("b"), 25);
  assert.deepEqual(advance(100, { asleep: true }), ["100 a", "100 b", "100 c"]);
});

test("pacers on a wheel keep their pace", () => {
  const { wheel, advance, log, nowMs } = start();
  for (const [name, delayMs] of Object.entries({ a: 0, b: 3, c: 8 })) {
    const tick = log(name);
    const pacer = createPacer({ intervalMs: 20, tick, nowMs, setTimer: wheel.setTimer });
    advance(delayMs);
    pacer.start();
  }
  advance(100 - nowMs());
  assert.deepEqual(advance(45), ["105 b", "115 c", "120 a", "125 b", "135 c", "140 a", "145 b"]);
});

function start() {
  let now = 0;
  let wakes = 0;
  const ran: string[] = [];
  const timers: { callback: () => void; atMs: number }[] = [];
  const wheel = createTimerWheel({
    slotMs: 5,
    nowMs: () => now,
    wake: (callback, delayMs) => void timers.push({ callback, atMs: now + Math.max(1, delayMs) }),
  });
  function runDue(): void {
    for (const timer of timers.splice(0)) {
      if (timer.atMs > now) timers.push(timer);
      else {
        wakes += 1;
        timer.callback();
      }
    }
  }
  return {
    wheel,
    nowMs: () => now,
    wakes: () => wakes,
    log: (name: string) => () => void ran.push(`${now} ${name}`),
    advance(ms: number, { asleep = false } = {}) {
      for (let step = 0; step < ms; step += 1) {
        now += 1;
        if (!asleep || step === ms - 1) runDue();
      }
      return ran.splice(0);
    },
  };
}
