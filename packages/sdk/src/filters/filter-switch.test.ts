import assert from "node:assert/strict";
import { test } from "node:test";
import { createFilterSwitches } from "./filter-switch.ts";
import type { VoiceEngine } from "./filter-tally.ts";

const halving: VoiceEngine = {
  process: (samples) => samples.map((sample) => sample / 2),
  flush: () => Int16Array.of(7),
  figures: { framesIn: 0, framesFiltered: 0 },
  [Symbol.dispose]() {},
};

test("a session can be switched to hear everything and back, and both levels are told", () => {
  let bypassedSeconds = 0;
  const switches = createFilterSwitches();
  const bypassed = (seconds: number): void => void (bypassedSeconds += seconds);
  const stream = { sessionId: "s1", model: "tel", sampleRateHz: 16_000, bypassed } as const;
  const engine = switches.put(halving, stream);
  const other = switches.put(halving, { ...stream, sessionId: "s2" });
  const own = switches.of("s1");
  assert.ok(own);
  const loud = new Int16Array(1_600).fill(16_384);
  assert.equal(engine.process(loud)[0], 8_192);
  own.isBypassed = true;
  assert.equal(engine.process(loud)[0], 16_384);
  assert.equal(other.process(loud)[0], 8_192, "other sessions are not touched");
  assert.equal(bypassedSeconds, 0.1);
  assert.equal(engine.flush().length, 0);
  own.isBypassed = false;
  assert.equal(engine.process(loud)[0], 8_192);
  assert.deepEqual(own.view(), {
    model: "tel",
    isBypassed: false,
    levelMs: 100,
    levels: [0, 1, 2].map((number) => ({ number, beforeDb: -6, afterDb: -12 })),
  });
  for (let count = 0; count < 500; count += 1) engine.process(new Int16Array(320));
  const { levels } = own.view();
  assert.deepEqual([levels.length, levels.at(-1)], [100, { number: 102, beforeDb: -90, afterDb: -90 }]);
  engine[Symbol.dispose]();
  assert.equal(switches.of("s1"), undefined);
  assert.ok(switches.of("s2"));
});
