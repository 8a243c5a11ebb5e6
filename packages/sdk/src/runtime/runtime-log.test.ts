import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createRuntimeLog } from "./runtime-log.ts";

test("a bot that bends the clock does not bend the lines", () => {
  const lines: string[] = [];
  const { log, configure } = createRuntimeLog((text) => void lines.push(text));
  configure({ logLevel: "info", logFormat: "json" });
  const bent = mock.method(Date, "now", () => Number.NaN);
  const before = performance.timeOrigin + performance.now();
  try {
    log.info({}, "session started");
  } finally {
    bent.mock.restore();
  }
  const { time, msg } = JSON.parse(lines[0] ?? "") as { time: number; msg: string };
  assert.equal(msg, "session started");
  assert.ok(Math.abs(time - before) < 60_000, `${time}, but it is ${before}`);
});

test("an error that cannot be read costs no more than itself", () => {
  const lines: string[] = [];
  const { log } = createRuntimeLog((text) => void lines.push(text));
  const unreadable = Object.defineProperty(new Error("x"), "stack", {
    get: () => assert.fail("asked for its stack"),
  });
  log.error({ err: unreadable }, "bot failed");
  assert.match(lines.join(""), /^\d\d:\d\d:\d\d error bot failed\n$/);
});

test("an output that takes nothing fails nobody", () => {
  const { log } = createRuntimeLog(() => assert.fail("no"));
  log.child({ sessionId: "a" }).info({}, "session started");
});
