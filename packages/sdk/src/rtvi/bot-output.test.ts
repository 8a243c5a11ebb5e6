import type { ServerMessages } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBotOutput } from "./bot-output.ts";

test("a spoken segment is new, in progress, completed; each message has all of its text", () => {
  const { say, sent } = output();
  const segment = say("Hello there");
  segment.spokenUpTo(5);
  segment.completed();
  const base = { text: "Hello there", aggregated_by: "sentence", segment_id: 1, will_be_spoken: true };
  assert.deepEqual(sent, [
    {
      ...base,
      spoken_status: "new",
      spoken_progress: { accumulated_text: "", remaining_text: "Hello there" },
    },
    {
      ...base,
      spoken_status: "in-progress",
      spoken_progress: { accumulated_text: "Hello", remaining_text: " there" },
    },
    {
      ...base,
      spoken_status: "completed",
      spoken_progress: { accumulated_text: "Hello there", remaining_text: "" },
    },
  ]);
});

test("progress stays within the text", () => {
  for (const [characters, spoken] of [
    [-1, ""],
    [0, ""],
    [3, "abc"],
    [99, "abc"],
  ] as const) {
    const { say, sent } = output();
    say("abc").spokenUpTo(characters);
    const [, progress] = sent;
    assert.ok(progress && "spoken_progress" in progress);
    assert.equal(progress.spoken_progress?.accumulated_text, spoken);
  }
});

test("segments are numbered and may overlap", () => {
  const { say, sent } = output();
  const first = say("one");
  const second = say("two", { aggregatedBy: "code" });
  second.completed();
  first.completed();
  assert.deepEqual(
    sent.map((data) => "segment_id" in data && [data.segment_id, data.aggregated_by, data.spoken_status]),
    [
      [1, "sentence", "new"],
      [2, "code", "new"],
      [2, "code", "completed"],
      [1, "sentence", "completed"],
    ],
  );
});

test("text that is only shown has no progress", () => {
  const { say, sent } = output();
  const segment = say("A list", { spoken: false });
  segment.spokenUpTo(2);
  segment.completed();
  assert.deepEqual(sent, [
    { text: "A list", aggregated_by: "sentence", segment_id: 1, will_be_spoken: false },
  ]);
});

test("an old client gets the sentence as written, then as spoken", () => {
  const { say, sent } = output({ clientIsOld: true });
  const segment = say("Hello");
  segment.spokenUpTo(2);
  segment.completed();
  assert.deepEqual(sent, [
    { text: "Hello", aggregated_by: "sentence", spoken: false },
    { text: "Hello", aggregated_by: "sentence", spoken: true },
  ]);
});

test("text that is only shown is never spoken to an old client", () => {
  const { say, sent } = output({ clientIsOld: true });
  say("A list", { spoken: false }).completed();
  assert.deepEqual(sent, [{ text: "A list", aggregated_by: "sentence", spoken: false }]);
});

function output({ clientIsOld = false } = {}) {
  const sent: ServerMessages["bot-output"][] = [];
  const say = createBotOutput({ send: (data) => void sent.push(data), clientIsOld: () => clientIsOld });
  return { say, sent };
}
