import assert from "node:assert/strict";
import { test } from "node:test";
import { toLoggedMessage } from "./call-ending.ts";

test("everything but sound is shown", () => {
  assert.deepEqual(toLoggedMessage('{"event":"mark","mark":{"name":"x"}}'), {
    type: "mark",
    data: { mark: { name: "x" } },
  });
  assert.equal(toLoggedMessage('{"event":"media","media":{"payload":"AA=="}}'), undefined);
  assert.equal(toLoggedMessage('{"event": "playAudio"}'), undefined);
});

test("what cannot be read is shown as it came", () => {
  for (const text of ["hello", "[]", "null", '{"mark":1}']) {
    assert.deepEqual(toLoggedMessage(text), { type: "unreadable", data: text });
  }
});
