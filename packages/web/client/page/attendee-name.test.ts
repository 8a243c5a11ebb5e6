import assert from "node:assert/strict";
import { test } from "node:test";
import { attendeeName } from "./status-words.ts";

test("people in a room have names a person can say", () => {
  const cases = [
    ["you", "User-0f8fad5b", "", "You"],
    ["bot", "Bot-0f8fad5b", "", "Bot"],
    ["person", "Guest-2-0f8fad5b", "", "Guest 2"],
    ["person", "User-0f8fad5b", "", "Host"],
    ["person", "User-0f8fad5b", "Ann", "Ann"],
    ["person", "somebody", "", "somebody"],
  ] as const;
  for (const [kind, identity, name, expected] of cases)
    assert.equal(attendeeName({ kind, identity, name, isSpeaking: false }), expected);
});
