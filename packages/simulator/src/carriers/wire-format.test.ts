import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesPerSample, decodeSamples, encodeSamples, type WireEncoding } from "./wire-format.ts";

test("linear samples survive exactly", () => {
  for (const encoding of ["s16le", "s16be"] as const) {
    fc.assert(
      fc.property(fc.int16Array({ maxLength: 50 }), (samples) => {
        assert.deepEqual(decodeSamples(encodeSamples(samples, encoding), encoding), samples);
      }),
    );
  }
});

test("byte order and size", () => {
  const table: [WireEncoding, number[]][] = [
    ["s16le", [0x02, 0x01]],
    ["s16be", [0x01, 0x02]],
    ["mulaw", [0xe7]],
    ["alaw", [0xc5]],
  ];
  for (const [encoding, bytes] of table) {
    assert.deepEqual([...encodeSamples(Int16Array.of(0x0102), encoding)], bytes, encoding);
    assert.equal(bytesPerSample(encoding), bytes.length);
  }
});

test("half a sample is left out, and where the bytes lie makes no difference", () => {
  const bytes = Uint8Array.of(9, 1, 0, 7).subarray(1);
  assert.deepEqual(decodeSamples(bytes, "s16le"), Int16Array.of(1));
});
