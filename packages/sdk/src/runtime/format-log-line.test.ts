import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { formatLogLine } from "./runtime-log.ts";

const TIME = new Date(2026, 0, 2, 3, 4, 5).getTime();

test("a line for people: time, level, sentence, fields", () => {
  check({ level: 30, msg: "session started" }, "03:04:05 info  session started\n");
  check({ level: 40, msg: "oh", port: 1, host: "x" }, "03:04:05 warn  oh port=1 host=x\n");
  check({ level: 20, msg: "x", list: [1, "a"], none: null }, `03:04:05 debug x list=[1,"a"] none=null\n`);
  check({ level: 10, msg: "x" }, "03:04:05 trace x\n");
  check({ level: 60, msg: "x" }, "03:04:05 error x\n");
});

test("a session is known by the beginning of its id, first of the fields", () => {
  const sessionId = "0a1b2c3d-0000-4000-8000-000000000000";
  check(
    { level: 30, msg: "x", reason: "stopped", sessionId },
    "03:04:05 info  x session=0a1b2c3d reason=stopped\n",
  );
});

test("an error's stack follows on lines of its own", () => {
  const stack = "Error: broken\n    at here";
  check(
    { level: 50, msg: "bot failed", err: { message: "broken", stack } },
    `03:04:05 error bot failed\n${stack}\n`,
  );
  check({ level: 50, msg: "bot failed", err: { message: "broken" } }, "03:04:05 error bot failed\nbroken\n");
});

test("colours change nothing but the colours", () => {
  const line = JSON.stringify({ level: 50, time: TIME, msg: "bot failed", port: 1 });
  const coloured = formatLogLine(line, true);
  assert.ok(coloured.includes("\u001b[31m"));
  assert.equal(stripVTControlCharacters(coloured), formatLogLine(line, false));
});

function check(fields: object, expected: string): void {
  assert.equal(formatLogLine(JSON.stringify({ time: TIME, ...fields }), false), expected);
}
