import assert from "node:assert/strict";
import { test } from "node:test";
import { nextLease, type LeaseEffect, type LeaseEvent, type LeaseState } from "./lease-state.ts";

const start = (epoch: number, sessionId: string): LeaseEvent => ({ type: "start", epoch, sessionId });
const stop = (epoch: number, sessionId: string, elapsedMs = 10): LeaseEvent => ({
  type: "stop",
  epoch,
  sessionId,
  reason: "stopped",
  elapsedMs,
});
const socket = (sessionId: string | undefined, isWaiting = true): LeaseEvent => ({
  type: "socket",
  sessionId,
  isWaiting,
});
const recorded: LeaseEvent = { type: "recorded" };
const opens: LeaseEffect = { type: "open-session" };
const ends: LeaseEffect = { type: "end-session", reason: "stopped" };
const stale: LeaseEffect = { type: "refuse", code: "EPOCH_STALE" };
const taken: LeaseEffect = { type: "refuse", code: "INSTANCE_TAKEN" };
const admits: LeaseEffect = { type: "admit-socket" };

const table: [string, LeaseEvent[], LeaseEffect[], LeaseState][] = [
  [
    "a start is done once, however often it is sent",
    [start(1, "a"), start(2, "a"), recorded, start(3, "a")],
    [opens],
    { epoch: 3, phase: "over", sessionId: "a" },
  ],
  [
    "a second session is refused, and its epoch remembered",
    [start(1, "a"), start(2, "b"), stop(1, "a")],
    [opens, taken, stale],
    { epoch: 2, phase: "open", sessionId: "a", hasSocket: false, stopAskedMs: undefined },
  ],
  ["an old controller starts nothing", [stop(5, "x"), start(4, "a")], [stale], { epoch: 5, phase: "free" }],
  [
    "the first stop counts, and a stop of another session changes nothing",
    [start(1, "a"), stop(1, "b", 1), stop(1, "a", 20), stop(1, "a", 30)],
    [opens, ends, ends],
    { epoch: 1, phase: "open", sessionId: "a", hasSocket: false, stopAskedMs: 20 },
  ],
  [
    "the first socket of the waiting session is admitted",
    [
      socket("a"),
      start(1, "a"),
      socket("b"),
      socket(undefined),
      socket("a", false),
      socket("a"),
      socket("a"),
    ],
    [opens, admits],
    { epoch: 1, phase: "open", sessionId: "a", hasSocket: true, stopAskedMs: undefined },
  ],
  [
    "after the session is over, no socket and no stop changes it",
    [start(1, "a"), recorded, socket("a"), stop(1, "a"), recorded],
    [opens],
    { epoch: 1, phase: "over", sessionId: "a" },
  ],
];

for (const [name, events, effects, expected] of table)
  test(name, () => {
    let state: LeaseState = { epoch: 0, phase: "free" };
    const seen: LeaseEffect[] = [];
    for (const event of events) {
      const [next, more] = nextLease(state, event);
      state = next;
      seen.push(...more);
    }
    assert.deepEqual(seen, effects);
    assert.deepEqual(state, expected);
  });
