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
