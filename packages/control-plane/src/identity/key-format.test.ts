import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createKey, looksLikeKey, maskKey, parseKey } from "./key-format.ts";

test("a key has its prefix, 30 random characters and a checksum", () => {
  for (const [kind, prefix] of [
    ["private", "sk_"],
    ["public", "pk_"],
  ] as const) {
    const key = createKey(kind);
    assert.match(key, /^(sk|pk)_[0-9A-Za-z]{36}$/);
    assert.ok(key.startsWith(prefix));
    assert.deepEqual(parseKey(key), {
      kind,
      sha256: createHash("sha256").update(key).digest("hex"),
      lastFour: key.slice(-4),
    });
  }
});

test("keys differ", () => {
  const keys = Array.from({ length: 1_000 }, () => createKey("private"));
  assert.equal(new Set(keys).size, keys.length);
});

test("every changed character is noticed", () => {
  const key = createKey("public");
  for (let index = 0; index < key.length; index += 1) {
    for (const other of ["0", "z", "_"]) {
      if (key[index] === other) continue;
      assert.equal(parseKey(key.slice(0, index) + other + key.slice(index + 1)), undefined);
    }
  }
  assert.equal(parseKey(key.replace("pk_", "sk_")), undefined);
  assert.equal(parseKey(`${key}0`), undefined);
  assert.equal(parseKey(`${key}\n`), undefined);
});

test("arbitrary text is no key", () => {
  fc.assert(fc.property(fc.string(), (text) => parseKey(text) === undefined));
  assert.ok(looksLikeKey("sk_x") && looksLikeKey("pk_") && !looksLikeKey("eyJ"));
});

test("a masked key shows its kind and last four characters", () => {
  assert.equal(maskKey({ kind: "private", lastFour: "aB3z" }), "sk_…aB3z");
});
