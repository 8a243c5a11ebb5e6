import type { CallSummary } from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { test } from "node:test";
import { liveCells, summaryCells } from "./call-cells.ts";
import { emptyFigures } from "./call-figures.ts";

const summary: CallSummary = {
  carrier: "twilio",
  outcome: { type: "hung-up", by: "caller", reason: "asked" },
  connectMs: 30,
  durationMs: 10_600,
  firstMediaMs: 600,
  firstAudioMs: 630,
  answersMs: [900, 1100, 1000],
  interruptionsMs: [],
  falseInterruptions: 0,
  heard: { seconds: 3, audibleSeconds: 2.5, silenceRatio: 0.7, cutOffMs: 0 },
  said: { audibleSeconds: 2, chunks: 500, lostChunks: 0 },
  marks: { received: 4, reached: 2, returnedByClear: 1, unanswered: 1 },
  clears: { count: 1, droppedMs: 700 },
  digits: "123456789#",
  traffic: { messagesIn: 10, messagesOut: 500, bytesIn: 12_345, bytesOut: 2_345_678 },
  pacing: { chunks: 40, largestLeadMs: 620, earlyChunks: 3, lateChunks: 0, largestGapMs: 0, ownLagMs: 4 },
  violations: [],
};

const shown = (cells: { name: string; value: string; note: string }[]) =>
  Object.fromEntries(cells.map(({ name, value, note }) => [name, note ? `${value}, ${note}` : value]));

test("a call that is over, in figures", () => {
  const cells = shown(summaryCells(summary));
  assert.equal(cells["First sound"], "600 ms, picked up in 30 ms");
  assert.equal(cells["Answers in"], "1.00 s, median of 3");
  assert.equal(cells["Marks"], "3 of 4, acknowledged");
  assert.equal(cells["Clears"], "1, 0.7 s dropped");
  assert.equal(cells["Keys"], "…3456789#");
  assert.equal(cells["Received"], "12 kB, 10 messages");
  assert.equal(cells["Sent"], "2.3 MB, 500 messages");
});

test("what is not as it should be stands out", () => {
  const alarming = (cells: { name: string; alarming?: boolean }[]) =>
    cells.filter((cell) => cell.alarming).map(({ name }) => name);
  assert.deepEqual(alarming(summaryCells(summary)), ["Audio ahead"]);
  const violations = [{ code: "bad-size" as const, detail: "320 bytes", count: 2 }];
  assert.deepEqual(
    alarming(liveCells({ ...emptyFigures, leadMs: 0, ownLagMs: 0, violations, lateChunks: 1 }, [])),
    ["Late chunks", "Violations"],
  );
});

test("a page that was busy itself blames nobody else", () => {
  const pacing = { ...summary.pacing, lateChunks: 4, largestGapMs: 200, ownLagMs: 300 };
  const alarming = summaryCells({ ...summary, pacing }).filter((cell) => cell.alarming);
  assert.deepEqual(
    alarming.map(({ name, note }) => `${name}, ${note}`),
    ["Timer delay, this page was busy"],
  );
});

test("before anything was heard there is nothing to show", () => {
  const cells = shown(liveCells({ ...emptyFigures, leadMs: 0, ownLagMs: 0 }, []));
  assert.deepEqual([cells["First sound"], cells["Audio ahead"], cells["Marks"]], ["–", "0 ms", "0"]);
});
