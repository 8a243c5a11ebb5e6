import assert from "node:assert/strict";
import { test } from "node:test";
import { createSocketTokens } from "./socket-tokens.ts";

const LIFE_S = 300;

test("a token stands for its session, once", () => {
  const tokens = createSocketTokens();
  const [first, second] = [tokens.issue("one"), tokens.issue("two")];
  assert.notEqual(first, second);
  assert.equal(tokens.redeem(second), "two");
  assert.equal(tokens.redeem(first), "one");
  assert.equal(tokens.redeem(first), undefined);
  assert.equal(tokens.redeem(second), undefined);
});

test("two tokens of one session are two rights", () => {
  const tokens = createSocketTokens();
  const [first, second] = [tokens.issue("one"), tokens.issue("one")];
  assert.equal(tokens.redeem(first), "one");
  assert.equal(tokens.redeem(second), "one");
});

test("a token says when it ends and has a name, and both are signed", () => {
  const tokens = createSocketTokens(() => 1_000_999);
  const [payload = "", signature = ""] = tokens.issue("one").split(".");
  assert.match(payload, /^[\w-]+$/);
  assert.match(signature, /^[0-9a-f]{64}$/);
  const { exp, jti } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  assert.equal(exp, 1000 + LIFE_S);
  assert.match(String(jti), /^[0-9a-f]{16}$/);
});

test("lives for five minutes", () => {
  for (const [laterS, redeemed] of [
    [0, "one"],
    [LIFE_S, "one"],
    [LIFE_S + 1, undefined],
  ] as const) {
    let nowMs = 5_000;
    const tokens = createSocketTokens(() => nowMs);
    const token = tokens.issue("one");
    nowMs += laterS * 1000;
    assert.equal(tokens.redeem(token), redeemed, `${laterS} s`);
  }
});

test("an expired token does not take younger ones with it", () => {
  let nowMs = 0;
  const tokens = createSocketTokens(() => nowMs);
  const old = tokens.issue("old");
  nowMs += 200_000;
  const young = tokens.issue("young");
  nowMs += 200_000;
  assert.equal(tokens.redeem(old), undefined);
  assert.equal(tokens.redeem(young), "young");
});

test("nothing else is a token", () => {
  const tokens = createSocketTokens();
  const token = tokens.issue("one");
  const [payload = "", signature = ""] = token.split(".");
  const forged = Buffer.from(JSON.stringify({ exp: 9e9, jti: "0".repeat(16) })).toString("base64url");
  const cases = [
    undefined,
    "",
    ".",
    "..",
    payload,
    `${payload}.`,
    `.${signature}`,
    `${payload}.${signature}.`,
    `${payload}.${signature}.x`,
    `${payload}.${signature.toUpperCase()}`,
    `${payload}.${signature.slice(1)}`,
    `${payload}.${"é".repeat(64)}`,
    `${forged}.${signature}`,
    `${payload}A.${signature}`,
    createSocketTokens().issue("one"), // of another process
  ];
  for (const wrong of cases) assert.equal(tokens.redeem(wrong), undefined, String(wrong));
  assert.equal(tokens.redeem(token), "one");
});
