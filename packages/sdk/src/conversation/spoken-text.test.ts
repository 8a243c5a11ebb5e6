import assert from "node:assert/strict";
import { test } from "node:test";
import { spokenText } from "./spoken-text.ts";

const table: [string, string][] = [
  ["**Bold**, *soft*, _soft_ and `code`.", "Bold, soft, soft and code."],
  ["# Title", "Title"],
  ["- an item", "an item"],
  ["1. an item", "1. an item"],
  ["Look at [our page](https://example.com/a_b).", "Look at our page."],
  ["![A cat](cat.png)", "A cat"],
  ["> Somebody said so", "Somebody said so"],
  ["| a | b |\n|---|---|\n| 1 | 2 |", "a, b 1, 2"],
  ["Well <b>done</b><br/>friend", "Well done friend"],
  ["2 * 3 < 7 and a_b stays", "2 * 3 < 7 and a_b stays"],
  ["Great! 🎉👨‍👩‍👧", "Great!"],
  ["Costs 5 € © 2026", "Costs 5 € © 2026"],
  ["👍", ""],
  ["**Half bold", "Half bold"],
  ["```js\nlet a\n```", "let a"],
];

for (const [written, spoken] of table)
  test(`${JSON.stringify(written)} is spoken ${JSON.stringify(spoken)}`, () => {
    assert.equal(spokenText(written), spoken);
  });
