import assert from "node:assert/strict";
import { test } from "node:test";
import type { Phase } from "../../shared/events/phase.ts";
import { problem } from "../../shared/events/problem.ts";
import { statusWords } from "./status-words.ts";

const live: Phase = { name: "live", sinceMs: 0, transport: "webrtc", interrupted: false };

function check(change: Partial<Parameters<typeof statusWords>[0]>, title: string) {
  const words = statusWords({
    phase: { name: "idle" },
    runner: { kind: "ready", transports: ["webrtc"] },
    speaking: { user: false, bot: false },
    muted: false,
    ...change,
  });
  assert.equal(words.title, title);
}

test("every state has plain words", () => {
  check({}, "Ready when you are");
  check({ runner: { kind: "looking" } }, "Looking for your bot");
  check({ phase: live }, "Listening");
  check({ phase: live, speaking: { user: true, bot: false } }, "Hearing you");
  check({ phase: live, speaking: { user: true, bot: true } }, "Your bot is speaking");
  check({ phase: live, muted: true }, "You are muted");
  check({ phase: { ...live, interrupted: true }, muted: true }, "Connection interrupted");
  check({ phase: { name: "ended", by: "bot", durationMs: 1 } }, "Your bot ended the session");
  check({ phase: { name: "ended", by: "you", durationMs: 1 } }, "Session ended");
  check({ phase: { name: "failed", problem: problem("bot-silent") } }, "The bot never said it was ready");
});
