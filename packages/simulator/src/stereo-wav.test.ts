import assert from "node:assert/strict";
import { test } from "node:test";
import { parseWav } from "@vocalhost/audio";
import { writeStereoWav } from "./stereo-wav.ts";

test("one side in each ear, the shorter one filled up with silence", () => {
  const left = { samples: Int16Array.of(100, 200, 300), sampleRateHz: 8000 };
  const right = { samples: Int16Array.of(10), sampleRateHz: 8000 };
  const file = writeStereoWav({ left, right });
  const view = new DataView(file.buffer);
  assert.equal(view.getUint16(22, true), 2);
  assert.equal(view.getUint32(28, true), 32_000);
  const samples = Array.from({ length: 6 }, (_, at) => view.getInt16(44 + at * 2, true));
  assert.deepEqual(samples, [100, 10, 200, 0, 300, 0]);
  assert.deepEqual(parseWav(file), { samples: Int16Array.of(55, 100, 150), sampleRateHz: 8000 });
});

test("the lower rate is raised", () => {
  const left = { samples: new Int16Array(160), sampleRateHz: 8000 };
  const right = { samples: new Int16Array(320), sampleRateHz: 16_000 };
  const { samples, sampleRateHz } = parseWav(writeStereoWav({ left, right }));
  assert.equal(sampleRateHz, 16_000);
  assert.equal(samples.length, 320);
});
