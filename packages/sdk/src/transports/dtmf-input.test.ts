import assert from "node:assert/strict";
import { test } from "node:test";
import { createDtmfInput } from "./dtmf-input.ts";

test("an entry is complete with its digits; what follows stays for the next", async () => {
  const { input, push } = createDtmfInput();
  for (const key of "12345") push(key);
  assert.deepEqual(await input.collect({ digits: 3 }), { keys: "123", end: "complete" });
  assert.deepEqual(await input.collect(), { keys: "4", end: "complete" });
  const later = input.collect({ digits: 2 });
  push("x"); // not a key
  push("6");
  assert.deepEqual(await later, { keys: "56", end: "complete" });
});

test("the four keys that only some telephones have count as any", async () => {
  const { input, push } = createDtmfInput();
  for (const key of ["A", "a", "B", "E", "C", "D"]) push(key);
  assert.deepEqual(await input.collect({ endKey: "D" }), { keys: "ABC", end: "complete" });
});

test("an end key ends it and is no part of it", async () => {
  const { input, push } = createDtmfInput();
  for (const key of "42#7#") push(key);
  assert.deepEqual(await input.collect({ endKey: "#" }), { keys: "42", end: "complete" });
  assert.deepEqual(await input.collect({ endKey: "#", digits: 4 }), { keys: "7", end: "complete" });
});

test("without another key in time there is what there is, and a late one is not lost", async () => {
  const { input, push } = createDtmfInput();
  push("1");
  assert.deepEqual(await input.collect({ digits: 4, timeoutMs: 20 }), { keys: "1", end: "timeout" });
  push("9");
  assert.deepEqual(await input.collect({ timeoutMs: 20 }), { keys: "9", end: "complete" });
  assert.deepEqual(await input.collect({ timeoutMs: 0 }), { keys: "", end: "timeout" });
});

test("with flush, earlier keys do not count", async () => {
  const { input, push } = createDtmfInput();
  push("1");
  const collected = input.collect({ flush: true });
  push("2");
  assert.deepEqual(await collected, { keys: "2", end: "complete" });
});

test("the end of the session and a signal end it", async () => {
  const { input, push, end } = createDtmfInput();
  const controller = new AbortController();
  const aborted = input.collect({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(aborted, /enough/);
  push("1");
  const collected = input.collect({ digits: 2 });
  end();
  assert.deepEqual(await collected, { keys: "1", end: "ended" });
});

test("two cannot read at once, and nonsense is refused", async () => {
  const { input } = createDtmfInput();
  const first = input.collect({ timeoutMs: 50 });
  await assert.rejects(input.collect(), /being read by another loop/);
  await first;
  await assert.rejects(input.collect({ digits: 0 }), RangeError);
  await assert.rejects(input.collect({ endKey: "12" }), RangeError);
  await assert.rejects(input.collect({ timeoutMs: -1 }), RangeError);
});
