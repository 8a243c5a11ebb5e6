import assert from "node:assert/strict";
import { test } from "node:test";
import { rmsLevel } from "./pcm-bytes.ts";

test("level is from 0 to 1", () => {
  const sine = Int16Array.from({ length: 1600 }, (_, i) =>
    Math.round(32_767 * Math.sin((2 * Math.PI * i) / 16)),
  );
  const table: [string, Int16Array, number][] = [
    ["nothing", new Int16Array(0), 0],
    ["silence", new Int16Array(10), 0],
    ["full scale", new Int16Array(10).fill(-32_768), 1],
    ["half", new Int16Array(10).fill(16_384), 0.5],
    ["sine", sine, Math.SQRT1_2],
  ];
  for (const [name, samples, expected] of table) {
    assert.ok(Math.abs(rmsLevel(samples) - expected) < 1e-4, name);
  }
});
