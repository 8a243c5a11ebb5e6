import assert from "node:assert/strict";
import { test } from "node:test";
import { HISTORY_MS, SLOT_MS, VoiceHistory } from "./voice-history.ts";

test("the loudest level of a slot is kept", () => {
  const history = new VoiceHistory();
  history.push({ user: 0.2, bot: 0 }, 1000);
  history.push({ user: 0.1, bot: 0.5 }, 1010);
  assert.equal(history.newestSlot, 1000 / SLOT_MS);
  const { user, bot } = history.at(history.newestSlot);
  assert.deepEqual([user.toFixed(2), bot.toFixed(2)], ["0.20", "0.50"]);
});

test("skipped time is silent, and old time is forgotten", () => {
  const history = new VoiceHistory();
  history.push({ user: 1, bot: 1 }, 0);
  history.push({ user: 1, bot: 1 }, 400);
  assert.deepEqual(history.at(5), { user: 0, bot: 0 });
  assert.deepEqual(history.at(10), { user: 1, bot: 1 });
  history.push({ user: 0.5, bot: 0 }, 480);
  assert.deepEqual(history.at(11), { user: 0.5, bot: 0 }, "a short sleep is bridged");
  history.advance(400 + 3 * HISTORY_MS);
  assert.deepEqual(history.at(10), { user: 0, bot: 0 });
  assert.deepEqual(history.at(history.newestSlot), { user: 0, bot: 0 });
});
