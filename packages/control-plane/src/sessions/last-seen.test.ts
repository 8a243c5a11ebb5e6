import assert from "node:assert/strict";
import { test } from "node:test";
import { createLastSeen } from "./last-seen.ts";

const session = { id: "s", startMs: 300, observedMs: null };

test("a session we have bound lasts from its binding", () => {
  const lastSeen = createLastSeen();
  lastSeen.bound("s", 1_000);
  lastSeen.keepOnly(new Set()); // a pass that read its rows before
  lastSeen.alive(session, 5_000);
  assert.equal(lastSeen.atLeastMs(session), 4_000);
  assert.equal(lastSeen.atMostMs("s", 5_500), 4_500);
});

test("of one that another controller has bound, only what both saw is certain", () => {
  const lastSeen = createLastSeen();
  const known = { ...session, observedMs: 60_000 };
  assert.equal(lastSeen.atLeastMs(known), 60_000);
  lastSeen.alive(known, 7_000);
  lastSeen.alive(known, 9_000);
  assert.equal(lastSeen.atLeastMs({ ...known, observedMs: 61_000 }), 62_000);
  assert.equal(lastSeen.atMostMs("s", 9_500), null);
});

test("one that is over is forgotten", () => {
  const lastSeen = createLastSeen();
  lastSeen.bound("s", 1_000);
  lastSeen.keepOnly(new Set(["s"]));
  lastSeen.keepOnly(new Set());
  assert.equal(lastSeen.atMostMs("s", 2_000), null);
});
