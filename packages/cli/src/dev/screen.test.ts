import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionLines, type ShownSession } from "./screen.ts";

const session = (changes: Partial<ShownSession> = {}): ShownSession => ({
  id: "12345678-abcd",
  transport: "webrtc",
  state: "running",
  sinceMs: 0,
  isOnOldCode: false,
  ...changes,
});

test("lists live sessions with their age and their code", () => {
  assert.deepEqual(sessionLines([], 0), ["  No live sessions"]);
  assert.deepEqual(sessionLines([session({ isOnOldCode: true }), session({ state: "waiting" })], 75_500), [
    "  2 live sessions",
    "    webrtc     01:15  12345678  old code",
    "    webrtc     01:15  12345678  waiting for its client",
  ]);
  const many = sessionLines(
    Array.from({ length: 20 }, () => session()),
    0,
  );
  assert.equal(many.length, 10);
  assert.equal(many.at(-1), "    and 12 more");
});
