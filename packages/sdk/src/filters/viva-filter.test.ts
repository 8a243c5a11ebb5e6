import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createCollectedLog } from "../testing/collected-log.ts";
import { filterWithoutAsking, vivaFilter } from "./viva-filter.ts";
import { createVoiceIsolation, provideVoiceIsolation } from "./voice-isolation.ts";

const folder = mkdtempSync(join(tmpdir(), "viva-filter-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const ENGINE = `
export const openEngine = () => {
  const figures = { framesIn: 0, framesFiltered: 0 };
  return {
    figures,
    process(samples) {
      figures.framesIn = figures.framesFiltered += 1;
      return samples.map((sample) => -sample);
    },
    flush: () => new Int16Array(0),
    [Symbol.dispose]() {},
  };
};
`;

// Two steps a frame; the caller speaks in the second frame only.
const JUDGING_ENGINE = `
export const openEngine = () => {
  const figures = { framesIn: 0, framesFiltered: 0, nearShare: 0 };
  return {
    figures,
    process(samples) {
      const near = figures.nearShare * figures.framesFiltered + (figures.framesIn === 2 ? 2 : 0);
      figures.framesIn = figures.framesFiltered += 2;
      figures.nearShare = near / figures.framesFiltered;
      return samples;
    },
    flush: () => new Int16Array(0),
    [Symbol.dispose]() {},
  };
};
`;

test("where nothing provides it, it refuses and says how to guard it", () => {
  assert.throws(() => vivaFilter(), {
    code: "VIVA_UNAVAILABLE_LOCALLY",
    message: /guard vivaFilter\(\) with ENV/,
  });
  assert.equal(filterWithoutAsking(), undefined);
});

test("a bot gets it without asking only where it is to be everywhere", async () => {
  const { log, messages } = createCollectedLog();
  const engine = join(folder, "engine.mjs");
  writeFileSync(engine, ENGINE);
  provideVoiceIsolation(createVoiceIsolation({ engine, log }));
  assert.equal(filterWithoutAsking(), undefined);
  const isolation = createVoiceIsolation({ engine, log, attaches: "always" });
  isolation.begin("tel");
  provideVoiceIsolation(isolation);
  const context = { sampleRateHz: 16_000, sessionId: "s1", log, signal: new AbortController().signal };
  for (let session = 0; session < 2; session += 1) {
    const filter = await filterWithoutAsking()?.open(context);
    assert.deepEqual(filter?.process(Int16Array.of(1)), Int16Array.of(-1));
    await filter?.dispose?.();
  }
  const status = isolation.status();
  assert.deepEqual([status?.state, status?.framesIn, status?.framesFiltered], ["ran", 2, 2]);
  assert.deepEqual(messages(), []);
});

test("the filter reports the caller's share of a frame, and nothing while audio passes untouched", async () => {
  const engine = join(folder, "judging.mjs");
  writeFileSync(engine, JUDGING_ENGINE);
  const { log } = createCollectedLog();
  const isolation = createVoiceIsolation({ engine, log, attaches: "always" });
  isolation.begin("tel");
  provideVoiceIsolation(isolation);
  const context = { sampleRateHz: 16_000, sessionId: "s2", log, signal: new AbortController().signal };
  const filter = await filterWithoutAsking()?.open(context);
  assert.ok(filter);
  const shares = [1, 2, 3].map(() => {
    filter.process(new Int16Array(320));
    return Math.round((filter.nearShare ?? -1) * 100);
  });
  assert.deepEqual(shares, [0, 100, 0]);
  const own = isolation.switchOf("s2");
  assert.ok(own);
  own.isBypassed = true;
  assert.equal(filter.nearShare, undefined);
  await filter.dispose?.();
});
