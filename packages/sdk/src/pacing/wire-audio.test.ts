import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import type { WireFormat } from "@vocalhost/carriers";
import { decodeWireAudio, encodeWireAudio } from "./wire-audio.ts";

const MULAW: WireFormat = { encoding: "mulaw", sampleRateHz: 8_000 };
const ALAW: WireFormat = { encoding: "alaw", sampleRateHz: 8_000 };
const PCM: WireFormat = { encoding: "pcm", sampleRateHz: 8_000 };
const NETWORK: WireFormat = { encoding: "pcm-network", sampleRateHz: 16_000 };

const samples = fc
  .array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 400 })
  .map((values) => Int16Array.from(values));

test("silence has the byte of its law", () => {
  assert.equal(encodeWireAudio(new Int16Array(3), MULAW), Buffer.from([0xff, 0xff, 0xff]).toString("base64"));
  assert.equal(encodeWireAudio(new Int16Array(3), ALAW), Buffer.from([0xd5, 0xd5, 0xd5]).toString("base64"));
  assert.equal(encodeWireAudio(new Int16Array(3), PCM), Buffer.alloc(6).toString("base64"));
});

test("linear audio has the byte order its carrier wants, and comes back as it was", () => {
  const bytesIn = (format: WireFormat): number[] => [
    ...Buffer.from(encodeWireAudio(Int16Array.of(0x0102, -2), format), "base64"),
  ];
  assert.deepEqual(bytesIn(PCM), [2, 1, 0xfe, 0xff]);
  assert.deepEqual(bytesIn(NETWORK), [1, 2, 0xff, 0xfe]);
  for (const format of [PCM, NETWORK])
    fc.assert(
      fc.property(samples, (said) => {
        const before = said.slice();
        assert.deepEqual(decodeWireAudio(encodeWireAudio(said, format), format), said);
        assert.deepEqual(said, before, "the bot's own samples are left alone");
      }),
    );
});

test("companded audio comes back within its step, and stays there", () => {
  for (const format of [MULAW, ALAW])
    fc.assert(
      fc.property(samples, (said) => {
        const heard = decodeWireAudio(encodeWireAudio(said, format), format);
        assert.equal(heard.length, said.length);
        heard.forEach((sample, at) => {
          const stepMax = Math.max(16, Math.abs(said[at]!) / 16) + 644; // mu-law clips at 32,124
          assert.ok(Math.abs(sample - said[at]!) <= stepMax, `${said[at]} became ${sample}`);
        });
        assert.deepEqual(decodeWireAudio(encodeWireAudio(heard, format), format), heard);
      }),
    );
});

test("a part of a larger buffer is encoded as that part", () => {
  const whole = Int16Array.of(1, 2, 3, 4);
  for (const format of [PCM, NETWORK, MULAW])
    assert.equal(encodeWireAudio(whole.subarray(1, 3), format), encodeWireAudio(Int16Array.of(2, 3), format));
});

test("payloads that are no audio decode to something bounded", () => {
  for (const format of [MULAW, ALAW, PCM, NETWORK]) {
    for (const nothing of ["", "=", "====", "!!", "\u0000", "é"])
      assert.equal(decodeWireAudio(nothing, format).length, 0);
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (payload) => {
        assert.ok(decodeWireAudio(payload, format).length <= payload.length);
      }),
    );
  }
  for (const format of [PCM, NETWORK])
    assert.equal(
      decodeWireAudio(Buffer.from([1, 2, 3]).toString("base64"), format).length,
      1,
      "half a sample is none",
    );
});
