import assert from "node:assert/strict";
import { test } from "node:test";
import { hostProblem, keyNameProblem, setNameProblem, toPullCredential } from "./secret-form.ts";

test("names are checked before they are sent", () => {
  for (const good of ["", "bot", "my-bot.production", "a1b"])
    assert.equal(setNameProblem(good), undefined, good);
  for (const bad of ["ab", "Bot", "-bot", "bot-", "a..b", "a b", "x".repeat(64)])
    assert.ok(setNameProblem(bad), bad);
  for (const good of ["", "API_KEY", "a-b", "x".repeat(64)]) assert.equal(keyNameProblem(good), undefined);
  for (const bad of ["A B", "ä", "x".repeat(65), "A=B"]) assert.ok(keyNameProblem(bad), bad);
  assert.equal(hostProblem("https://ghcr.io"), undefined);
  for (const bad of ["ghcr.io", "ftp://x", "https://"]) assert.ok(hostProblem(bad), bad);
});

test("credentials of a registry survive every character", () => {
  const text = Buffer.from(toPullCredential("jörg", "töken:€"), "base64").toString("utf8");
  assert.equal(text, "jörg:töken:€");
});
