import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pcmBytes, pcmSamples } from "./pcm-bytes.ts";

test("samples are two bytes each, the low one first", () => {
  const samples = Int16Array.of(1, 256, -1, -32_768, 32_767);
  const bytes = [1, 0, 0, 1, 255, 255, 0, 128, 255, 127];
  assert.deepEqual([...pcmBytes(samples)], bytes);
  assert.deepEqual(pcmSamples(Uint8Array.from(bytes), 1), samples);
});

test("part of an array gives its own bytes only", () => {
  assert.deepEqual([...pcmBytes(Int16Array.of(1, 2, 3).subarray(1, 2))], [2, 0]);
});

test("any samples survive, wherever their bytes lie", () => {
  fc.assert(
    fc.property(fc.int16Array(), fc.nat(3), (samples, offset) => {
      const message = new Uint8Array(offset + samples.byteLength);
      message.set(pcmBytes(samples), offset);
      assert.deepEqual(pcmSamples(message.subarray(offset), 1), samples);
    }),
  );
});

test("the samples are a copy, so that the message may be thrown away", () => {
  for (const bytes of [Uint8Array.of(5, 0), Buffer.from([5, 0])]) {
    const samples = pcmSamples(bytes, 1);
    bytes.fill(9);
    assert.deepEqual(samples, Int16Array.of(5));
    assert.equal(samples.buffer.byteLength, 2);
  }
});

test("channels are mixed to one; what is incomplete is left out", () => {
  const cases: [number[], number, number[]][] = [
    [[100, 300, -100, -300], 2, [200, -200]],
    [[32_767, 32_767, -32_768, -32_768], 2, [32_767, -32_768]],
    [[1, 2, 3, 4, 5, 6, 7], 3, [2, 5]],
    [[1, 2], 3, []],
    [[1, 2], 4_294_967_295, []],
    [[1, 2], 0, [1, 2]], // a client that leaves the field out means one
    [[], 1, []],
  ];
  for (const [samples, channels, expected] of cases)
    assert.deepEqual([...pcmSamples(pcmBytes(Int16Array.from(samples)), channels)], expected);
  assert.deepEqual(pcmSamples(Uint8Array.of(1, 0, 2), 1), Int16Array.of(1));
});
