import assert from "node:assert/strict";
import { test } from "node:test";
import { BootWaits } from "./boot-waits.ts";
import type { PodState } from "./pod-state.ts";

const PENDING = { state: "running", ip: undefined, waitsFor: undefined, hasBegun: false } as const;
const BEGUN = { ...PENDING, hasBegun: true } as const;
const NO_ROOM = { ...PENDING, waitsFor: "There is no room for it in the cluster." } as const;

test("time before the container runs is no time of the bot, and a sentence says so when it is long", () => {
  const { look } = start();
  assert.deepEqual(look(PENDING, 0), { starvedMs: 0 });
  assert.deepEqual(look(PENDING, 9_000), { starvedMs: 9_000 });
  const waitsFor = "Its node has not started it yet.";
  assert.deepEqual(look(PENDING, 30_000), { starvedMs: 30_000, waitsFor });
  assert.deepEqual(look(BEGUN, 40_000), { starvedMs: 40_000 });
  assert.deepEqual(look(BEGUN, 90_000), { starvedMs: 40_000 });
});

test("a pod for which there is no room is waited for as long as any other", () => {
  const { look } = start();
  assert.deepEqual(look(NO_ROOM, 0), { waitsFor: NO_ROOM.waitsFor });
  assert.deepEqual(look(NO_ROOM, 50_000), { waitsFor: NO_ROOM.waitsFor });
  assert.deepEqual(look(BEGUN, 51_000), { starvedMs: 51_000 });
});

test("what a pod reports is added, and no more of it believed than the time that has passed", () => {
  const { look, told } = start();
  look(PENDING, 0);
  look(BEGUN, 1_000);
  told(3_000, 10_000);
  assert.deepEqual(look(BEGUN, 11_000), { starvedMs: 4_000 });
  told(1e12, 21_000);
  assert.deepEqual(look(BEGUN, 21_000), { starvedMs: 21_000 });
});

test("a report may come before its node says that the container runs, or to a controller that is new", () => {
  const { look, told } = start();
  look(PENDING, 0);
  told(500, 2_000);
  assert.deepEqual(look(PENDING, 3_000), { starvedMs: 2_000 });
  const next = start();
  next.told(500, 2_000);
  assert.deepEqual(next.look(BEGUN, 3_000), { starvedMs: 0 });
  next.told(2_500, 5_000);
  assert.deepEqual(next.look(BEGUN, 5_000), { starvedMs: 2_500 });
});

function start() {
  let nowMs = 0;
  const waits = new BootWaits(() => nowMs);
  return {
    look(pod: PodState & { state: "running" }, atMs: number) {
      nowMs = atMs;
      return waits.look("a", pod);
    },
    told(starvedMs: number, atMs: number) {
      nowMs = atMs;
      waits.told("a", starvedMs);
    },
  };
}
