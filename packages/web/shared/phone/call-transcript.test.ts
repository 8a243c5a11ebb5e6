import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEvent } from "../events/connection-event.ts";
import { emptyTranscript, toPlainText } from "../transcript/transcript.ts";
import { nextCallTranscript } from "./call-transcript.ts";

function check(events: ConnectionEvent[], expected: string[]): void {
  const { entries } = events.reduce(nextCallTranscript, emptyTranscript);
  assert.deepEqual(toPlainText(entries).split("\n"), expected);
}
const speech = (who: "user" | "bot", fromMs: number, toMs: number): ConnectionEvent[] => [
  { type: "speech-start", who, atMs: fromMs },
  { type: "speech-end", who, atMs: toMs },
];
const key = (key: string): ConnectionEvent => ({ type: "key-pressed", key, atMs: 0 });
const mark = (name: string): ConnectionEvent => ({ type: "mark-reached", name, atMs: 0 });

test("turns are found by who makes a sound", () => {
  check(
    [...speech("user", 0, 1000), ...speech("user", 1500, 2500), ...speech("bot", 3000, 5000)],
    ["You: spoke for 2.0 s", "Bot: spoke for 2.0 s"],
  );
  check(
    [...speech("bot", 0, 1000), ...speech("bot", 4000, 5000)],
    ["Bot: spoke for 1.0 s", "Bot: spoke for 1.0 s"],
  );
});

test("both may talk at once", () => {
  check(
    [
      { type: "speech-start", who: "bot", atMs: 0 },
      { type: "speech-start", who: "user", atMs: 500 },
      { type: "speech-end", who: "bot", atMs: 1000 },
      { type: "speech-end", who: "user", atMs: 2000 },
    ],
    ["Bot: spoke for 1.0 s", "You: spoke for 1.5 s"],
  );
});

test("keys and marks that come in a row share a note", () => {
  check(
    [key("1"), key("#"), mark("a"), mark("b"), mark("c"), key("2"), mark("d")],
    ["You pressed 1 # 2", "4 marks reached"],
  );
});

test("what is said in between begins a new note", () => {
  check(
    [key("1"), ...speech("bot", 0, 1000), key("2")],
    ["You pressed 1", "Bot: spoke for 1.0 s", "You pressed 2"],
  );
});

test("a click is no turn", () => {
  check([...speech("user", 0, 20), ...speech("bot", 3000, 4000)], ["Bot: spoke for 1.0 s"]);
});

test("marks in between do not split a turn", () => {
  check(
    [...speech("bot", 0, 1000), mark("a"), ...speech("bot", 1100, 2000), mark("b")],
    ["Bot: spoke for 1.9 s", "2 marks reached"],
  );
});

test("a mark that is reached before the voice is noticed belongs to its turn", () => {
  check(
    [...speech("user", 0, 1000), mark("a"), ...speech("bot", 2000, 3000), mark("b")],
    ["You: spoke for 1.0 s", "Bot: spoke for 1.0 s", "2 marks reached"],
  );
});

test("a clear shows what was dropped, and whose turn it cut off", () => {
  check(
    [...speech("bot", 0, 1000), { type: "audio-cleared", droppedMs: 700, atMs: 900 }],
    ["Bot: spoke for 1.0 s (interrupted)", "Bot cleared 0.7 s of audio"],
  );
  check(
    [...speech("bot", 0, 1000), { type: "audio-cleared", droppedMs: 0, atMs: 900 }],
    ["Bot: spoke for 1.0 s"],
  );
});

test("a violation is told once", () => {
  const found: ConnectionEvent = { type: "violation-found", code: "bad-size", detail: "too small", atMs: 0 };
  check([found, key("1"), found], ["Protocol violation: too small", "You pressed 1"]);
});
