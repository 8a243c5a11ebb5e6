import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeG711, encodeG711, G711_SILENCE, type CompandingLaw } from "./g711.ts";

const LAWS: CompandingLaw[] = ["mulaw", "alaw"];

// Values of the ITU-T G.711 tables, scaled to 16 bits.
const KNOWN: { law: CompandingLaw; code: number; sample: number }[] = [
  { law: "mulaw", code: 0xff, sample: 0 },
  { law: "mulaw", code: 0x7f, sample: 0 },
  { law: "mulaw", code: 0x80, sample: 32_124 },
  { law: "mulaw", code: 0x00, sample: -32_124 },
  { law: "mulaw", code: 0xf0, sample: 120 },
  { law: "mulaw", code: 0xef, sample: 132 },
  { law: "alaw", code: 0xd5, sample: 8 },
  { law: "alaw", code: 0x55, sample: -8 },
  { law: "alaw", code: 0xaa, sample: 32_256 },
  { law: "alaw", code: 0x2a, sample: -32_256 },
  { law: "alaw", code: 0xc5, sample: 264 },
];

test("codes have the sample values of the standard", () => {
  for (const { law, code, sample } of KNOWN)
    assert.equal(decodeG711(Uint8Array.of(code), law)[0], sample, `${law} ${code.toString(16)}`);
});

test("every code survives decoding and encoding", () => {
  for (const law of LAWS) {
    const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
    const again = encodeG711(decodeG711(codes, law), law);
    for (const code of codes) {
      if (law === "mulaw" && code === 0x7f) continue; // the second zero of mu-law
      assert.equal(again[code], code, `${law} ${code.toString(16)}`);
    }
  }
});

test("every sample comes back within half a step", () => {
  for (const law of LAWS) {
    const samples = Int16Array.from({ length: 0x1_0000 }, (_, at) => at - 0x8000);
    const heard = decodeG711(encodeG711(samples, law), law);
    for (const [at, sample] of samples.entries()) {
      const allowed = Math.max(16, (Math.abs(sample) + 132) / 32) + (Math.abs(sample) > 32_000 ? 600 : 0);
      assert.ok(Math.abs(heard[at]! - sample) <= allowed, `${law}: ${sample} became ${heard[at]}`);
    }
  }
});

test("silence is silent", () => {
  for (const law of LAWS) assert.ok(Math.abs(decodeG711(Uint8Array.of(G711_SILENCE[law]), law)[0]!) <= 8);
});
