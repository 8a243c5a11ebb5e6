import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmbedServer } from "./embed-server.ts";

const origin = "https://bots.example.com";

test("a hosted agent is started and offered to with the public key", () => {
  const server = createEmbedServer({ origin, agent: "start-bot", key: "pk_x" });
  assert.equal(server.startUrl, `${origin}/v1/public/start-bot/start`);
  assert.deepEqual(server.startHeaders, { authorization: "Bearer pk_x" });
  assert.deepEqual(server.offerTo?.({ sessionId: "a/b" }), {
    url: `${origin}/v1/public/start-bot/sessions/a%2Fb/api/offer`,
    headers: { authorization: "Bearer pk_x" },
  });
  assert.equal(server.offerTo?.({}), undefined);
});

test("a runner needs neither agent nor key", () => {
  const server = createEmbedServer({ origin: "http://localhost:7860", agent: undefined, key: undefined });
  assert.equal(server.startUrl, "http://localhost:7860/start");
  assert.deepEqual(server.startHeaders, {});
  assert.equal(server.startRequest, undefined);
});

test("an agent's name leads nowhere else", () => {
  const server = createEmbedServer({ origin, agent: "../../v1/keys", key: "pk_x" });
  assert.equal(new URL(server.startUrl).pathname, "/v1/public/..%2F..%2Fv1%2Fkeys/start");
});
