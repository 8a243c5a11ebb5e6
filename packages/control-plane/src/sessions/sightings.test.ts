import assert from "node:assert/strict";
import { test } from "node:test";
import { createSightings } from "./sightings.ts";

const session = { id: "s", startMs: 300, observedMs: null };

test("a session we have bound lasts from its binding", () => {
  const sightings = createSightings();
  sightings.bound("s", 1_000);
  sightings.keepOnly(new Set()); // a pass that read its rows before
  sightings.alive(session, 5_000);
  assert.equal(sightings.atLeastMs(session), 4_000);
  assert.equal(sightings.atMostMs("s", 5_500), 4_500);
});

test("of one that another controller has bound, only what both saw is certain", () => {
  const sightings = createSightings();
  const known = { ...session, observedMs: 60_000 };
  assert.equal(sightings.atLeastMs(known), 60_000);
  sightings.alive(known, 7_000);
  sightings.alive(known, 9_000);
  assert.equal(sightings.atLeastMs({ ...known, observedMs: 61_000 }), 62_000);
  assert.equal(sightings.atMostMs("s", 9_500), null);
});

test("one that is over is forgotten", () => {
  const sightings = createSightings();
  sightings.bound("s", 1_000);
  sightings.keepOnly(new Set(["s"]));
  sightings.keepOnly(new Set());
  assert.equal(sightings.atMostMs("s", 2_000), null);
});
