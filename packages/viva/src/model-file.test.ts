import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseModel, readModel } from "./model-file.ts";

const tel = readFileSync(new URL("../models/tel.viva", import.meta.url));

test("both models say their version and licence", () => {
  for (const name of ["tel", "pro"] as const) {
    const { header } = readModel(name);
    assert.match(header.version, /^\d+\.\d+\.\d+$/);
    assert.equal(header.licence, "Apache-2.0");
  }
});

test("a model that was changed, cut or exchanged is refused", () => {
  const changed = Buffer.from(tel);
  changed[changed.length - 5] = (changed[changed.length - 5] ?? 0) ^ 1;
  assert.throws(() => parseModel(changed, "tel"), /damaged/);
  assert.throws(() => parseModel(tel.subarray(0, -4), "tel"), /damaged/);
  assert.throws(() => parseModel(tel, "pro"), /damaged/);
});

test("what is no model file is refused", () => {
  assert.throws(() => parseModel(Buffer.from("RIFF"), "tel"), /not a model file/);
  assert.throws(() => parseModel(Buffer.alloc(0), "tel"), /not a model file/);
});
