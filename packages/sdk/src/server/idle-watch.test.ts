import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createIdleWatch } from "./idle-watch.ts";

test("what happens keeps it awake, and so does a voice that goes on; then it is idle once", async () => {
  let isBusy = true;
  const idle = Promise.withResolvers<number>();
  const told: number[] = [];
  const watch = createIdleWatch({
    isBusy: () => isBusy,
    idle(seconds) {
      told.push(seconds);
      idle.resolve(seconds);
    },
  });
  watch.allow(0.2);
  await pause(400);
  assert.deepEqual(told, [], "busy");
  isBusy = false;
  for (let times = 0; times < 8; times += 1) {
    watch.active();
    await pause(50);
  }
  const activeUntilMs = performance.now();
  assert.equal(await idle.promise, 0.2);
  assert.ok(performance.now() - activeUntilMs > 100);
  await pause(300);
  assert.deepEqual(told, [0.2]);
});

test("it may be idle for ever, and the end of the session is the end of it", async () => {
  const told: number[] = [];
  const patient = createIdleWatch({ isBusy: () => false, idle: (seconds) => told.push(seconds) });
  patient.allow(0.05);
  patient.allow(null);
  const ended = createIdleWatch({ isBusy: () => false, idle: (seconds) => told.push(seconds) });
  ended.allow(0.05);
  ended.end();
  await pause(150);
  assert.deepEqual(told, []);
});
