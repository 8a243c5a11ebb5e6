import assert from "node:assert/strict";
import { test } from "node:test";
import { closestWord } from "./closest-word.ts";

test("finds what was meant, and nothing when nothing was", () => {
  const words = ["agent_name", "agent_profile", "region", "scaling", "image"];
  const table: [string, string | undefined][] = [
    ["agent_nam", "agent_name"],
    ["AGENT-NAME", "agent_name"],
    ["profile", "agent_profile"],
    ["regoin", "region"],
    ["scale", "scaling"],
    ["imag", "image"],
    ["x", undefined],
    ["something", undefined],
    ["", undefined],
    ["r".repeat(100_000), undefined],
  ];
  for (const [word, meant] of table) assert.equal(closestWord(word, words), meant, word.slice(0, 20));
});

test("letters that are missing, wrong or have changed places", () => {
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
