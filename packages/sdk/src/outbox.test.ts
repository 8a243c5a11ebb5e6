import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { until } from "../../../testing/wait.ts";
import { createOutbox } from "./outbox.ts";

const LONG_MS = 1_000_000;

test("everything of one turn goes together, in order", async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>({ batchMs: 10, send: (messages) => void sent.push(messages) });
  outbox.post(1, true);
  outbox.post(2, false);
  outbox.post(3, true);
  await setImmediate();
  assert.deepEqual(sent, [[1, 2, 3]]);
});

test("what can wait does so after a crossing, and goes along with what cannot", async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>({ batchMs: LONG_MS, send: (messages) => void sent.push(messages) });
  outbox.post(1, true);
  await setImmediate();
  outbox.post(2, true);
  outbox.post(3, true);
  await setImmediate();
  assert.deepEqual(sent, [[1]]);
  outbox.post(4, false);
  await setImmediate();
  assert.deepEqual(sent, [[1], [2, 3, 4]]);
});

test("what waits goes by itself in the end", async () => {
  const sent: number[][] = [];
  const outbox = createOutbox<number>({ batchMs: 20, send: (messages) => void sent.push(messages) });
  outbox.post(1, true);
  await setImmediate();
  outbox.post(2, true);
  await until(() => sent.length === 2, 1_000, "second crossing");
  assert.deepEqual(sent, [[1], [2]]);
  outbox.flush();
  assert.equal(sent.length, 2);
});
