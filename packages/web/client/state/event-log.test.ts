import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConnectionEvent } from "../../shared/events/connection-event.ts";
import { emptyLog, filterLog, LOG_MAX, nextLog, toLines } from "./event-log.ts";

const got = (type: string, data?: unknown): ConnectionEvent => ({
  type: "message-received",
  message: { type, data },
  atMs: 0,
});

test("messages and events of the page are logged in order", () => {
  const log = [
    { type: "step-reached", step: "start", atMs: 1 } as const,
    got("bot-output", { text: "Hi" }),
    { type: "message-sent", message: { type: "send-text", data: 1 }, atMs: 2 } as const,
    { type: "bot-heard", atMs: 3 } as const,
  ].reduce(nextLog, emptyLog);
  assert.deepEqual(
    log.entries.map(({ id, direction, name, data }) => [id, direction, name, data]),
    [
      [1, "page", "step-reached", { step: "start" }],
      [2, "in", "bot-output", { text: "Hi" }],
      [3, "out", "send-text", 1],
      [4, "page", "bot-heard", undefined],
    ],
  );
});

test("the log is bounded and says how much fell off", () => {
  const log = Array.from({ length: LOG_MAX + 25 }, () => got("x")).reduce(nextLog, emptyLog);
  assert.equal(log.entries.length, LOG_MAX);
  assert.equal(log.dropped, 25);
  assert.equal(log.entries[0]?.id, 26);
});

test("the filter looks at names and data, for every word", () => {
  const { entries } = [got("bot-output", { text: "Hello" }), got("metrics")].reduce(nextLog, emptyLog);
  const check = (filter: string, count: number) =>
    assert.equal(filterLog(entries, filter).length, count, filter);
  check("", 2);
  check("  ", 2);
  check("BOT", 1);
  check("bot hello", 1);
  check("metrics hello", 0);
});

test("copied lines are JSON", () => {
  const { entries } = [got("a", { b: 1 }), got("c")].reduce(nextLog, emptyLog);
  const lines = toLines(entries).split("\n");
  assert.deepEqual(JSON.parse(lines[0]!), {
    time: "1970-01-01T00:00:00.000Z",
    direction: "in",
    name: "a",
    data: { b: 1 },
  });
  assert.equal(lines.length, 2);
});
