import assert from "node:assert/strict";
import { test } from "node:test";
import { closestWord } from "./closest-word.ts";

test("finds what a mistyped word meant, and nothing for another word", () => {
  const words = ["host", "port", "transport", "folder", "ws-auth", "allowed-origins"];
  const cases: [string, string | undefined][] = [
    ["host", "host"],
    ["prt", "port"],
    ["porrt", "port"],
    ["prot", "port"], // letters that changed places
    ["pots", undefined],
    ["transprot", "transport"],
    ["tarnsport", "transport"],
    ["ws-auht", "ws-auth"],
    ["allowed-origin", "allowed-origins"],
    ["allow-origins", "allowed-origins"],
    ["voice", undefined],
    ["x", undefined],
    ["", undefined],
  ];
  for (const [word, expected] of cases) assert.equal(closestWord(word, words), expected, word);
  assert.equal(closestWord("anything", []), undefined);
});
