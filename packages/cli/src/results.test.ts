import assert from "node:assert/strict";
import { test } from "node:test";
import { shownBytes, shownSeconds, shownTime, toFacts, toTable } from "./results.ts";

const ui = { style: (_style: string, text: string) => text };

test("columns are as wide as their widest cell, and nothing a service sent moves the cursor", () => {
  const table = toTable(
    ui,
    ["Name", "State"],
    [
      ["a", { text: "ready", style: "green" }],
      ["a-long-name", "\u001b[2Jgone"],
    ],
  );
  assert.equal(table, "Name         State\na            ready\na-long-name  gone");
  assert.equal(
    toFacts(ui, [
      ["Key", "1"],
      ["Longer", "two\nlines"],
    ]),
    "Key     1\nLonger  two\n        lines",
  );
});

test("the widest cells are cut where a table would be wider than a hundred characters", () => {
  const table = toTable(ui, ["Id", "Image", "Name"], [["3f2a9c04", "x".repeat(150), "short"]]);
  const [head = "", row = ""] = table.split("\n");
  assert.equal([...row].length, 100);
  assert.match(row, /^3f2a9c04 {2}x+… {2}short$/);
  assert.match(head, /^Id {8}Image +Name$/);
});

test("times and sizes are short", () => {
  assert.equal(shownTime("2026-11-15T17:06:22.123Z"), "2026-11-15 17:06:22Z");
  assert.equal(shownTime(null), "–");
  assert.deepEqual([0.25, 7, 65, 3725, null].map(shownSeconds), [
    "0.3 s",
    "7 s",
    "1 min 5 s",
    "1 h 2 min",
    "–",
  ]);
  assert.deepEqual([999, 1500, 2_000_000].map(shownBytes), ["999 bytes", "1.5 kB", "2.0 MB"]);
});
