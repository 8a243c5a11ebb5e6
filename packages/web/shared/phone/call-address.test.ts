import assert from "node:assert/strict";
import { test } from "node:test";
import { toCallAddress } from "./request-call.ts";

test("a token becomes the end of the path", () => {
  assert.equal(toCallAddress({ wsUrl: "ws://host:1/ws" }), "ws://host:1/ws");
  assert.equal(toCallAddress({ wsUrl: "ws://host:1/ws", token: "a b" }), "ws://host:1/ws/a%20b");
  assert.equal(toCallAddress({ wsUrl: "wss://host/ws/?x=1", token: "t" }), "wss://host/ws/t?x=1");
  assert.equal(toCallAddress({ wsUrl: "ws://host:1/ws", token: null }), "ws://host:1/ws");
});

test("an answer without an address for sockets is none", () => {
  for (const answer of [null, "ws://host", {}, { wsUrl: 7 }, { wsUrl: "host" }, { wsUrl: "http://host" }]) {
    assert.equal(toCallAddress(answer), undefined);
  }
});
