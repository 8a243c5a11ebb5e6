import assert from "node:assert/strict";
import { test } from "node:test";
import { ORB_BOT_BANDS, ORB_USER_BANDS, OrbState } from "./draw-orb.ts";

const FRAME_MS = 100;
const SECOND = 10; // frames

test("an orb that nobody speaks to settles within seconds, and a voice or another mood moves it again", () => {
  const orb = new OrbState();
  let timeMs = 0;
  const follow = (frames: number, botLevel = 0): void => {
    for (let frame = 0; frame < frames; frame++) {
      timeMs += FRAME_MS;
      const botBands = new Float32Array(ORB_BOT_BANDS).fill(botLevel);
      orb.follow({ botLevel, userLevel: 0, botBands, userBands: new Float32Array(ORB_USER_BANDS), timeMs });
    }
  };
  assert.ok(!orb.isSettled, "it has to appear first");
  follow(3 * SECOND);
  assert.ok(orb.isSettled);
  follow(1, 0.5);
  assert.ok(!orb.isSettled, "the bot spoke");
  follow(3 * SECOND);
  assert.ok(orb.isSettled);
  orb.mood = "dimmed";
  assert.ok(!orb.isSettled, "it has to fade");
  follow(3 * SECOND);
  assert.ok(orb.isSettled);
});
