import assert from "node:assert/strict";
import { test } from "node:test";
import { problem, type ProblemCode } from "../../shared/events/problem.ts";
import { noOneSpeaking } from "../../shared/voice/speaking.ts";
import { talkWords, toHostedProblem } from "./talk-words.ts";

test("nothing that is said about a hosted agent speaks of a runner", () => {
  const codes: ProblemCode[] = [
    "microphone-denied",
    "microphone-insecure",
    "runner-unreachable",
    "page-outdated",
    "start-refused",
    "start-timeout",
    "connection-failed",
    "socket-failed",
    "call-refused",
    "call-timeout",
    "bot-silent",
    "bot-left-early",
    "bot-failed",
    "connection-lost",
  ];
  for (const code of codes) {
    const words = toHostedProblem(problem(code, "The runner stopped or restarted."));
    assert.doesNotMatch(JSON.stringify({ ...words, code: "" }), /runner|terminal/i, code);
  }
});

test("the same moment reads differently on a phone", () => {
  const now = { speaking: noOneSpeaking, muted: false };
  const idle = { phase: { name: "idle" as const }, ...now };
  assert.equal(talkWords({ ...idle, carrier: undefined }).title, "Ready when you are");
  assert.match(talkWords({ ...idle, carrier: "Twilio" }).note, /Twilio/);
  const live = { phase: { name: "live" as const, sinceMs: 0, transport: "", interrupted: false }, ...now };
  assert.equal(talkWords({ ...live, carrier: "Twilio" }).title, "Connected");
  assert.equal(talkWords({ ...live, carrier: undefined, muted: true }).title, "You are muted");
});
