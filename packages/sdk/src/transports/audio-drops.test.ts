import assert from "node:assert/strict";
import { test } from "node:test";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createAudioDrops } from "./audio-drops.ts";

test("what was thrown away is told at once, and then together once a second", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { log, entries } = createCollectedLog();
  const told: string[] = [];
  const drops = createAudioDrops(log, ({ where, ms }) => void told.push(`${where} ${ms}`));
  for (let frame = 0; frame < 3; frame += 1) drops.note("audioIn", 20, "slow");
  drops.note("audioOut", 500, "full");
  assert.deepEqual(told, ["audioIn 20", "audioOut 500"]);
  context.mock.timers.tick(1_000);
  assert.deepEqual(told.slice(2), ["audioIn 40"]);
  drops.note("audioIn", 20, "slow");
  drops.note("audioOut", 1, "full");
  assert.deepEqual(told.slice(3), ["audioOut 1"], "that one was quiet for a second");
  drops.end();
  assert.deepEqual(told.slice(4), ["audioIn 20"]);
  context.mock.timers.tick(5_000);
  assert.equal(told.length, 5);
  assert.deepEqual(
    entries.map(({ level, message, fields }) => [level, message, fields["why"], fields["droppedInAllMs"]]),
    [
      ["warn", "audio dropped", "slow", 20],
      ["warn", "audio dropped", "full", 500],
      ["warn", "audio dropped", "slow", 60],
      ["warn", "audio dropped", "full", 501],
      ["warn", "audio dropped", "slow", 80],
    ],
  );
});
