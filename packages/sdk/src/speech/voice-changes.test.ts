import assert from "node:assert/strict";
import { test } from "node:test";
import { createVoiceChanges } from "./turns.ts";

test("voice is told when it lasts, and its end when silence does", () => {
  const told: string[] = [];
  let at = 0;
  const window = createVoiceChanges({
    vadUserStartedSpeaking: () => told.push(`started ${at}`),
    vadUserStoppedSpeaking: () => told.push(`stopped ${at}`),
  });
  for (const isSpeech of [..."..x..xxxx.x...xxx.......xx....xxxx"].map((each) => each === "x")) {
    window(isSpeech, 32);
    at += 1;
  }
  assert.deepEqual(told, ["started 8", "stopped 23", "started 33"]);
});
