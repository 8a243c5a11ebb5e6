import assert from "node:assert/strict";
import { test } from "node:test";
import { readableLog } from "./readable-log.ts";

const style = (name: string, text: string): string => (name === "dim" ? text : `<${name}>${text}`);
const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: 1794763735700, process: "gateway", ...fields });

test("log lines are made for reading; requests are shown when they fail or are asked for", () => {
  const request = { msg: "request served", method: "GET", path: "/v1/agents", status: 200, ms: 3 };
  const shown = (fields: object, isVerbose = false) => readableLog(line(fields), { style, isVerbose });
  assert.equal(shown(request), undefined);
  assert.equal(shown(request, true), "17:28:55Z gateway    GET /v1/agents 200, 3 ms");
  assert.match(shown({ ...request, status: 500 }) ?? "", /500/);
  assert.equal(shown({ msg: "leading", epoch: 2, pid: 7 }), "17:28:55Z gateway    leading  epoch=2");
  assert.equal(
    shown({ level: 40, msg: "late", err: { message: "why", stack: "…" } }),
    "17:28:55Z gateway    <yellow>late  err=why",
  );
  assert.equal(
    shown({ level: 50, msg: "bad", err: { message: "why", stack: "Error: why\n    at one.ts" } }),
    "17:28:55Z gateway    <red>bad\nError: why\n    at one.ts",
  );
  assert.equal(shown({ msg: "told", by: "a\u001b[2Jb" }), '17:28:55Z gateway    told  by="a\\u001b[2Jb"');
  assert.equal(
    shown({ level: 50, msg: "bad", err: { message: "why", stack: "Error: \u001b[2Jwhy\n    at one.ts" } }),
    "17:28:55Z gateway    <red>bad\nError: \\u001b[2Jwhy\n    at one.ts",
  );
  assert.equal(readableLog("{not json", { style, isVerbose: false }), "{not json");
});
