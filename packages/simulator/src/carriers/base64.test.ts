import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64, toBase64 } from "./wire-format.ts";

test("bytes survive, and are written as others write them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = toBase64(bytes);
      assert.equal(text, Buffer.from(bytes).toString("base64"));
      assert.deepEqual(fromBase64(text), bytes);
    }),
  );
  const long = new Uint8Array(100_000).fill(7);
  assert.deepEqual(fromBase64(toBase64(long)), long);
});

test("only the standard alphabet with its padding is taken", () => {
  for (const text of ["A", "AA", "AAA", "AA-_", "AA A", "AAA\n", "=AAA", "A===", "AAAA=", "é===", "AA=A"])
    assert.equal(fromBase64(text), undefined, JSON.stringify(text));
});
