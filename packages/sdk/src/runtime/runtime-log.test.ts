import assert from "node:assert/strict";
import { test } from "node:test";
import { createRuntimeLog } from "./runtime-log.ts";

test("an error that cannot be read costs no more than itself", () => {
  const lines: string[] = [];
  const { log } = createRuntimeLog((text) => void lines.push(text));
  const unreadable = Object.defineProperty(new Error("x"), "stack", {
    get: () => assert.fail("asked for its stack"),
  });
  log.error({ err: unreadable }, "bot failed");
  assert.match(lines.join(""), /^\d\d:\d\d:\d\d error bot failed\n$/);
});

test("a closed output causes no failure", () => {
  const { log } = createRuntimeLog(() => assert.fail("no"));
  log.child({ sessionId: "a" }).info({}, "session started");
});
