import assert from "node:assert/strict";
import { test } from "node:test";
import { shownLog } from "./run-up.ts";
import { toVariables, type UpOptions } from "./up-options.ts";

const ui = { style: (style: string, text: string) => (style === "dim" ? text : `<${style}>${text}`) };
const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: 1794763735700, process: "gateway", ...fields });

test("log lines are made for reading; requests are shown when they fail or are asked for", () => {
  const request = { msg: "request served", method: "GET", path: "/v1/agents", status: 200, ms: 3 };
  const shown = (fields: object, isVerbose = false) => shownLog(line(fields), { ui, isVerbose });
  assert.equal(shown(request), undefined);
  assert.equal(shown(request, true), "17:28:55Z gateway    GET /v1/agents 200, 3 ms");
  assert.match(shown({ ...request, status: 500 }) ?? "", /500/);
  assert.equal(shown({ msg: "leading", epoch: 2, pid: 7 }), "17:28:55Z gateway    leading  epoch=2");
  assert.equal(
    shown({ level: 50, msg: "bad", err: { message: "why", stack: "…" } }),
    "<red>17:28:55Z gateway    bad  err=why",
  );
  assert.equal(shownLog("{not json", { ui, isVerbose: false }), "{not json");
});

test("only options that were given become settings", () => {
  const none: UpOptions = {
    ...{ port: undefined, host: undefined, dataDir: undefined, publicUrl: undefined },
    ...{ settings: undefined, example: undefined, verbose: undefined },
  };
  assert.deepEqual(toVariables(none), {});
  assert.deepEqual(toVariables({ ...none, port: 0, dataDir: "d" }), {
    VOCALHOST_PORT: "0",
    VOCALHOST_DATA_DIR: "d",
  });
});
