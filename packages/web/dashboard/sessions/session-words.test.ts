import type { Session } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { momentsOf, toCorrectionWords, toReason, toSessionState } from "./session-words.ts";

test("moments count from the request, in the order they happened", () => {
  const moments = momentsOf({
    bootMs: 400,
    startMs: 500,
    botEnteredMs: 30,
    clientConnectedMs: 20,
    firstAudioMs: 250,
  });
  assert.deepEqual(
    moments.map(({ atMs }) => atMs),
    [400, 500, 520, 530, 750],
  );
  assert.deepEqual(momentsOf({}), []);
});

test("a bot that failed is no session that merely ended", () => {
  const session = { status: "ended", endReason: "bot-failed" } as Session;
  assert.equal(toSessionState(session).word, "Failed");
  assert.equal(toSessionState({ ...session, endReason: "client-left" }).word, "Ended");
});

test("unknown reasons are shown as they are", () => {
  assert.equal(toReason("something-new"), "something-new");
  assert.equal(toReason(null), "–");
});

test("a corrected length says which way the bot was wrong", () => {
  assert.equal(toCorrectionWords(18_240), "the bot said 18.2 s less than was seen");
  assert.equal(toCorrectionWords(-2_000), "the bot said 2 s more than was seen");
});
