import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createRedactor } from "./redact.ts";

test("known values disappear, everything else stays", () => {
  const redact = createRedactor(["hunter2-hunter2", "short", 'quo"te/slash+plus']);
  assert.equal(redact("key=hunter2-hunter2, word=short"), "key=[redacted], word=short");
  assert.equal(redact(JSON.stringify({ key: 'quo"te/slash+plus' })), '{"key":"[redacted]"}');
  assert.equal(redact(`?key=${encodeURIComponent('quo"te/slash+plus')}&x`), "?key=[redacted]&x");
  assert.equal(redact("hunter2 hunter2"), "hunter2 hunter2");
});

test("a value inside another one leaves no rest", () => {
  const redact = createRedactor(["abcdefgh", "abcdefghijkl"]);
  assert.equal(redact("abcdefghijkl abcdefgh"), "[redacted] [redacted]");
});

test("each line of a value with several is known", () => {
  const redact = createRedactor(["-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----\n"]);
  assert.equal(redact("MIIEvQIBADANBg"), "[redacted]");
});

test("without values nothing changes", () => {
  assert.equal(createRedactor([])("$& text"), "$& text");
});

test("no value survives, whatever it is made of", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 8, unit: "binary" }),
      fc.string(),
      fc.string(),
      (value, before, after) => {
        const redacted = createRedactor([value])(before + value + after);
        return !redacted.includes(value) || "[redacted]".includes(value) || (before + after).includes(value);
      },
    ),
  );
});
