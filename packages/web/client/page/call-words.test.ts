import assert from "node:assert/strict";
import { test } from "node:test";
import type { Phase } from "../../shared/events/phase.ts";
import { callWords } from "./status-words.ts";

const quiet = { user: false, bot: false };
const about = { speaking: quiet, muted: false, to: "+1202", carrier: "Twilio", summary: undefined };
const connecting = (step: "microphone" | "connect"): Phase => ({
  name: "connecting",
  step,
  stepSinceMs: 0,
  transport: "phone",
});
const live: Phase = { name: "live", sinceMs: 0, transport: "phone", interrupted: false };

test("a call is told from dialling to its end", () => {
  const title = (phase: Phase) => callWords({ ...about, phase })?.title;
  assert.equal(title({ name: "idle" }), "Ready to call");
  assert.equal(title(connecting("microphone")), undefined);
  assert.equal(title(connecting("connect")), "Calling…");
  assert.equal(title(live), "Connected");
  assert.equal(title({ name: "ended", by: "bot", durationMs: 1 }), "Your bot hung up");
  assert.equal(title({ name: "ended", by: "you", durationMs: 1 }), "You hung up");
});

test("a bot that hangs up without a word may have failed", () => {
  const phase: Phase = { name: "ended", by: "bot", durationMs: 100 };
  const heard = (audibleSeconds: number) => ({ seconds: 1, audibleSeconds, silenceRatio: 1, cutOffMs: 0 });
  const note = (seconds: number) =>
    callWords({ ...about, phase, summary: { durationMs: 200, heard: heard(seconds) } })?.note;
  assert.equal(note(0.5), "The call lasted 0.2 s.");
  assert.match(note(0) ?? "", /said nothing/);
});

test("while somebody speaks the usual words hold", () => {
  assert.equal(callWords({ ...about, phase: live, speaking: { user: false, bot: true } }), undefined);
  assert.equal(callWords({ ...about, phase: live, muted: true }), undefined);
});

test("the number and the carrier are named while it rings", () => {
  assert.equal(callWords({ ...about, phase: connecting("connect") })?.note, "+1202, as a call from Twilio.");
});
