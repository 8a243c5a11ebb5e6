import assert from "node:assert/strict";
import { test } from "node:test";
import { toActor, toWords } from "./audit-words.ts";

const names = new Map([
  ["user:1", "ada@example.com"],
  ["key:2", "pipeline"],
]);
const entry = (action: string, target: string, details: unknown = {}) =>
  toWords({ id: "", at: "2026-11-16T00:00:00.000Z", actor: "system", action, target, details }, names);

test("people and keys have their names, and those that are gone are said to be", () => {
  assert.equal(toActor("user:1", names), "ada@example.com");
  assert.equal(toActor("user:abcdefghij", names), "A former member (abcdefgh)");
  assert.equal(toActor("key:2", names), "Key “pipeline”");
  assert.equal(toActor("key:3", names), "A deleted key (3)");
  assert.equal(toActor("system", names), "The service");
});

test("an entry becomes a sentence with a link to what it is about", () => {
  assert.deepEqual(entry("agent-scaled", "agent:9", { name: "parrot", minAgents: 1, maxAgents: 5 }), {
    did: "changed the scaling of agent",
    what: "parrot",
    to: { page: "/agents/$name", name: "parrot" },
    more: "minAgents 1, maxAgents 5",
  });
  assert.deepEqual(entry("agent-deleted", "agent:9", { name: "parrot" }), {
    did: "deleted agent",
    what: "parrot",
  });
  assert.deepEqual(entry("key-revoked", "key:2"), {
    did: "revoked API key",
    what: "pipeline",
    to: { page: "/settings/keys" },
  });
  assert.deepEqual(entry("member-changed", "user:1", { from: "viewer", to: "admin" }), {
    did: "changed the role of",
    what: "ada@example.com",
    to: { page: "/settings/members" },
    more: "from viewer, to admin",
  });
  assert.deepEqual(entry("build-created", "0a4f1111-2222"), { did: "started build", what: "0a4f1111" });
  assert.equal(entry("something-new", "thing:1").did, "something new");
});
