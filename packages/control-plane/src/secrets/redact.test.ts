import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createRedactor, redactsWhole } from "./redact.ts";

test("known values disappear, everything else stays", async () => {
  const redact = await createRedactor(["hunter2-hunter2", "short", 'quo"te/slash+plus']);
  assert.equal(redact("key=hunter2-hunter2, word=short"), "key=[redacted], word=short");
  assert.equal(redact(JSON.stringify({ key: 'quo"te/slash+plus' })), '{"key":"[redacted]"}');
  assert.equal(redact(`?key=${encodeURIComponent('quo"te/slash+plus')}&x`), "?key=[redacted]&x");
  assert.equal(redact("hunter2 hunter2"), "hunter2 hunter2");
});

test("a value inside another one leaves no rest", async () => {
  const redact = await createRedactor(["abcdefgh", "abcdefghijkl"]);
  assert.equal(redact("abcdefghijkl abcdefgh"), "[redacted] [redacted]");
});

test("each line of a value with several is known", async () => {
  const redact = await createRedactor(["-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----\n"]);
  assert.equal(redact("MIIEvQIBADANBg"), "[redacted]");
});

test("without values nothing changes", async () => {
  assert.equal((await createRedactor([]))("$& text"), "$& text");
});

test("no value survives, whatever it is made of", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 8, unit: "binary" }),
      fc.string(),
      fc.string(),
      async (value, before, after) => {
        const redacted = (await createRedactor([value]))(before + value + after);
        return !redacted.includes(value) || "[redacted]".includes(value) || (before + after).includes(value);
      },
    ),
  );
});

test("a value as long as any may be is hidden", async () => {
  const value = randomBytes(24 * 1024).toString("base64");
  assert.equal(value.length, 32 * 1024);
  const redact = await createRedactor([value, "hunter2-hunter2"]);
  assert.equal(redact(`a ${value} b hunter2-hunter2`), "a [redacted] b [redacted]");
});

test("what is left of a value that was cut off at either end is hidden", async () => {
  const value = randomBytes(6_000).toString("base64");
  const redact = await createRedactor([value]);
  assert.equal(redact(`key=${value.slice(0, 4_000)}`), "key=[redacted]");
  assert.equal(redact(`${value.slice(4_000)} and more`), "[redacted] and more");
});

test("a redactor says how much it leaves out, and what a set may have at most is hidden whole", async () => {
  const toldOf = async (values: string[]): Promise<number> => {
    let told = 0;
    await createRedactor(values, (leftOut) => (told += leftOut));
    return told;
  };
  const value = (): string => randomBytes(24 * 1024).toString("base64");
  const most = Array.from({ length: 32 }, value); // 1 MiB
  assert.equal(await toldOf(most), 0);
  assert.equal(redactsWhole(most), true);
  const tooMany = Array.from({ length: 160 }, value);
  assert.ok((await toldOf(tooMany)) > 30);
  assert.equal(redactsWhole(tooMany), false);
});

test("values that overlap leave nothing between them", async () => {
  const redact = await createRedactor(["0123456789", "56789abcde"]);
  assert.equal(redact("<0123456789abcde>"), "<[redacted]>");
});

test("what many long lines of values cost does not depend on how alike they are", async () => {
  const lines = Array.from({ length: 300 }, (_, at) => `${"a".repeat(200)}${at}`);
  const redact = await createRedactor([lines.join("\n")]);
  const text = "a".repeat(64 * 1024);
  const startedMs = performance.now();
  redact(text);
  assert.ok(performance.now() - startedMs < 2_000);
});

test("while a large set is made ready, others have their turn", async () => {
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  try {
    await createRedactor(Array.from({ length: 32 }, () => randomBytes(24 * 1024).toString("base64")));
  } finally {
    clearInterval(counting);
  }
  assert.ok(turns > 5, `${turns} turns`);
});
