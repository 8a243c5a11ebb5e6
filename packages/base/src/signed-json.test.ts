import assert from "node:assert/strict";
import { test } from "node:test";
import { openSignedJson, signJson } from "./signed-json.ts";

const key = { secret: "a secret of the service", purpose: "socket-token" };

test("what was signed is read back", () => {
  assert.deepEqual(openSignedJson(key, signJson(key, { hello: "world" })), { hello: "world" });
});

test("nothing else is read", () => {
  const text = signJson(key, { hello: "world" });
  const others = ["", ".", "x.y", `${text}.`, text.slice(0, -1), `${text}x`, text.replace(".", "..")];
  for (let at = 0; at < text.length; at++) {
    const wrong = text[at] === "A" ? "B" : "A";
    others.push(text.slice(0, at) + wrong + text.slice(at + 1));
  }
  for (const other of others) assert.equal(openSignedJson(key, other), undefined, other);
  assert.equal(openSignedJson({ ...key, purpose: "session-token" }, text), undefined);
  assert.equal(openSignedJson({ ...key, secret: "another" }, text), undefined);
});
