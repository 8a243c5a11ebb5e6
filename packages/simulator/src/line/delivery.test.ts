import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualClock } from "../clock.ts";
import { createSeededRandom } from "../seeded-random.ts";
import { createDelivery, type DeliveryOptions } from "./delivery.ts";

function recorded(options: Partial<DeliveryOptions> = {}) {
  const clock = createVirtualClock();
  const arrived: { text: string; atMs: number }[] = [];
  const delivery = createDelivery({
    clock,
    random: createSeededRandom(3),
    keepsOrder: true,
    send: (text) => void arrived.push({ text, atMs: clock.nowMs() }),
    ...options,
  });
  return { clock, arrived, delivery };
}

test("without jitter everything arrives at once", () => {
  const { delivery, arrived, clock } = recorded();
  delivery.sendSound("1");
  delivery.sendEvent("2");
  assert.deepEqual(
    arrived.map(({ text }) => text),
    ["1", "2"],
  );
  assert.equal(clock.pendingTimers, 0);
});

test("jitter delays up to its limit, and keeps the order where the carrier does", () => {
  const { delivery, arrived, clock } = recorded({ jitterMs: 60 });
  for (let number = 0; number < 200; number++) {
    if (number % 10 === 9) delivery.sendEvent(String(number));
    else delivery.sendSound(String(number));
    clock.runFor(20);
  }
  clock.runFor(100);
  assert.deepEqual(
    arrived.map(({ text }) => Number(text)),
    [...Array(200).keys()],
  );
  const delaysMs = arrived.map(({ text, atMs }) => atMs - Number(text) * 20);
  assert.ok(delaysMs.every((delayMs) => delayMs >= 0 && delayMs <= 60));
  assert.ok(Math.max(...delaysMs) > 40);
});

test("where order is not kept, later sound overtakes", () => {
  const { delivery, arrived, clock } = recorded({ jitterMs: 60, keepsOrder: false });
  for (let number = 0; number < 100; number++) {
    delivery.sendSound(String(number));
    clock.runFor(20);
  }
  clock.runFor(100);
  const order = arrived.map(({ text }) => Number(text));
  assert.notDeepEqual(order, [...Array(100).keys()]);
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    [...Array(100).keys()],
  );
});

test("loses about as much as told, the same for the same seed", () => {
  const losses = (): boolean[] => {
    const { delivery } = recorded({ lossPercent: 10 });
    return Array.from({ length: 2000 }, () => delivery.losesNext());
  };
  const lost = losses().filter(Boolean).length;
  assert.ok(lost > 150 && lost < 250, `${lost}`);
  assert.deepEqual(losses(), losses());
  assert.ok(!recorded({ lossPercent: 0 }).delivery.losesNext());
  assert.ok(recorded({ lossPercent: 100 }).delivery.losesNext());
});

test("flush sends what is under way, stop forgets it", () => {
  const { delivery, arrived, clock } = recorded({ jitterMs: 50 });
  delivery.sendSound("1");
  delivery.sendEvent("2");
  delivery.flush();
  assert.deepEqual(
    arrived.map(({ text }) => text),
    ["1", "2"],
  );
  delivery.sendSound("3");
  delivery.stop();
  clock.runFor(100);
  assert.equal(arrived.length, 2);
  assert.equal(clock.pendingTimers, 0);
});
