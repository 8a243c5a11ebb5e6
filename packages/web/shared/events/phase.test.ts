import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionReport } from "./connection-event.ts";
import { nextPhase, type Phase } from "./phase.ts";
import { problem } from "./problem.ts";

/** Plays the reports one second apart. */
function play(reports: ConnectionReport[]): Phase {
  return reports.reduce<Phase>(
    (phase, report, index) => nextPhase(phase, { ...report, atMs: index * 1000 }),
    { name: "idle" },
  );
}

const requested: ConnectionReport = {
  type: "session-requested",
  transport: "webrtc",
  microphone: true,
};
const ready: ConnectionReport = { type: "bot-ready", version: "2.1.0" };

test("a connection goes through its steps and becomes live", () => {
  assert.deepEqual(play([requested, { type: "step-reached", step: "bot" }]), {
    name: "connecting",
    step: "bot",
    stepSinceMs: 1000,
    transport: "webrtc",
  });
  assert.deepEqual(play([requested, ready]), {
    name: "live",
    sinceMs: 1000,
    transport: "webrtc",
    interrupted: false,
  });
});

test("a second bot-ready does not restart the clock", () => {
  const phase = play([requested, ready, ready]);
  assert.equal(phase.name === "live" && phase.sinceMs, 1000);
});

test("an ended session tells who ended it and how long it lasted", () => {
  assert.deepEqual(play([requested, ready, { type: "session-ended", by: "bot" }]), {
    name: "ended",
    by: "bot",
    durationMs: 1000,
  });
  assert.deepEqual(
    play([requested, ready, { type: "session-ending" }, { type: "session-ended", by: "you" }]),
    { name: "ended", by: "you", durationMs: 2000 },
  );
});

test("giving up while connecting leads back to idle", () => {
  const phase = play([requested, { type: "session-ending" }, { type: "session-ended", by: "you" }]);
  assert.deepEqual(phase, { name: "idle" });
});

test("late steps do not disturb a live or failed connection", () => {
  const late: ConnectionReport = { type: "step-reached", step: "connect" };
  assert.equal(play([requested, ready, late]).name, "live");
  const failed: ConnectionReport = { type: "session-failed", problem: problem("connection-lost") };
  assert.equal(play([requested, failed, late]).name, "failed");
});

test("a runner that is back solves the problem of its absence, and no other", () => {
  const failed = (code: "runner-unreachable" | "bot-failed"): ConnectionReport => ({
    type: "session-failed",
    problem: problem(code),
  });
  assert.equal(play([requested, failed("runner-unreachable"), { type: "runner-found" }]).name, "idle");
  assert.equal(play([requested, failed("bot-failed"), { type: "runner-found" }]).name, "failed");
});

test("an interrupted link is part of a live connection", () => {
  const phase = play([requested, ready, { type: "link-interrupted" }]);
  assert.equal(phase.name === "live" && phase.interrupted, true);
});
