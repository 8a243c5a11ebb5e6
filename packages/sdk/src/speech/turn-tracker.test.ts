import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createTurnTracker } from "./turn-tracker.ts";

const limits = { startMs: 100, endSilenceMs: 200, preRollMs: 150, maxTurnMs: 1000 };

test("turns begin after enough speech and end after enough silence", () => {
  // One sign per window of 50 ms, "#" is speech. Decisions come with their time.
  const rows: [name: string, windows: string, decisions: string][] = [
    ["silence", "..........", ""],
    ["too short to be a turn", "..#..#..#..", ""],
    ["a turn", ".....####....", "350 start; 650 end 100-650, speech 200, silence"],
    ["a pause within it", ".....##...##....", "350 start; 800 end 100-800, speech 350, silence"],
    ["from the first moment", "####....", "100 start; 400 end 0-400, speech 200, silence"],
    ["less pre-roll than wanted", ".####....", "150 start; 450 end 0-450, speech 200, silence"],
    [
      "nothing twice",
      "##....##....",
      "100 start; 300 end 0-300, speech 100, silence; 400 start; 600 end 300-600, speech 100, silence",
    ],
    ["still open", ".....####...", "350 start"],
    ["too long", "#".repeat(22), "100 start; 1000 end 0-1000, speech 1000, max-length; 1100 start"],
    ["too long, in silence", "#".repeat(18) + "......", "100 start; 1000 end 0-1000, speech 900, max-length"],
  ];
  for (const [name, windows, decisions] of rows) assert.equal(decide(windows).join("; "), decisions, name);
});

test("a longer silence is cut to 200 ms", () => {
  const heard = decide("....####..........", { endSilenceMs: 400 });
  assert.deepEqual(heard, ["300 start", "800 end 50-600, speech 200, silence"]);
});

test("one window of speech is enough when told so", () => {
  assert.deepEqual(decide("...#....", { startMs: 0 }), ["200 start", "400 end 0-400, speech 50, silence"]);
});

test("turns never overlap, are never too long, and their audio is still kept", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 })), (runs) => {
      const tracker = createTurnTracker({ ...limits, windowMs: 50 });
      let [nowMs, usedMs, keptFromMs, open] = [0, 0, 0, false];
      const windows = runs.flatMap((length, i) => Array.from({ length }, () => i % 2 === 0));
      for (const isSpeech of windows) {
        nowMs += 50;
        const decision = tracker.window(isSpeech);
        if (decision) assert.equal(decision.type === "end", open);
        if (decision?.type === "start") open = true;
        if (decision?.type === "end") {
          open = false;
          const { audioStartMs, audioEndMs, speechMs } = decision;
          assert.ok(audioStartMs >= Math.max(usedMs, keptFromMs));
          assert.ok(audioEndMs <= nowMs && audioEndMs - audioStartMs <= limits.maxTurnMs);
          assert.ok(speechMs > 0 && speechMs <= audioEndMs - audioStartMs);
          usedMs = audioEndMs;
        }
        assert.ok(tracker.keepFromMs >= keptFromMs);
        keptFromMs = tracker.keepFromMs;
        assert.ok(nowMs - keptFromMs <= limits.maxTurnMs + limits.preRollMs);
      }
    }),
  );
});

function decide(windows: string, changes: Partial<typeof limits> = {}): string[] {
  const tracker = createTurnTracker({ ...limits, ...changes, windowMs: 50 });
  return [...windows].flatMap((sign, i) => {
    const decision = tracker.window(sign === "#");
    const nowMs = (i + 1) * 50;
    if (!decision) return [];
    if (decision.type === "start") return [`${nowMs} start`];
    const { audioStartMs, audioEndMs, speechMs, reason } = decision;
    return [`${nowMs} end ${audioStartMs}-${audioEndMs}, speech ${speechMs}, ${reason}`];
  });
}
