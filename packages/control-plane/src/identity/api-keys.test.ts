import assert from "node:assert/strict";
import { test } from "node:test";
import { createFailpoint } from "@vocalhost/base/failpoints";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { createOrganization } from "./organizations/organizations.ts";
import { createApiKeys, ROTATION_OVERLAP_MAX_MS } from "./api-keys.ts";
import { createKeyCache } from "./key-cache.ts";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { parseKey } from "./key-format.ts";
import type { KeyPrincipal, OrganizationId } from "./principal.ts";
import { createStartLimits, requireAgentAllowed } from "./rate-limits.ts";
import type { BrowserRequest } from "./same-origin.ts";
import { requireSameOrigin } from "./same-origin.ts";

test("a private key's value is shown once and stored nowhere", async () => {
  await using world = await openWorld();
  const { keys, acme, store } = world;
  const { id, value } = await keys.create(acme, { kind: "private", name: "server" }, "user:1");
  const [listed] = await keys.list(acme);
  assert.equal(listed?.masked, `sk_…${value.slice(-4)}`);
  assert.deepEqual([listed?.id, listed?.name, listed?.publicValue], [id, "server", null]);
  const dump = JSON.stringify([
    await store.db.selectFrom("apiKeys").selectAll().execute(),
    await store.db.selectFrom("audit").selectAll().execute(),
    await keys.list(acme),
  ]);
  assert.ok(!dump.includes(value) && !dump.includes(value.slice(3)));
  assert.ok(!JSON.stringify(listed).includes(parseKey(value)?.sha256 ?? "?"));
});

test("a public key can be read again, and its audit entry does not hold it", async () => {
  await using world = await openWorld();
  const { keys, acme, store } = world;
  const input = { kind: "public", name: "site", agents: ["parrot"] } as const;
  const { value } = await keys.create(acme, { ...input, agents: [...input.agents] }, "user:1");
  const [listed] = await keys.list(acme);
  assert.deepEqual([listed?.publicValue, listed?.agents], [value, ["parrot"]]);
  const audit = JSON.stringify(await store.db.selectFrom("audit").selectAll().execute());
  assert.ok(audit.includes("key-created") && !audit.includes(value));
});

test("five usable keys of each kind, not more", async () => {
  await using world = await openWorld();
  const { keys, acme, other, clock } = world;
  const create = (kind: "private" | "public", expiresAt: number | null = null) =>
    keys.create(acme, { kind, name: "", expiresAt }, "system");
  const [first] = await Promise.all([1, 2, 3, 4].map(() => create("private")));
  await create("private", clock.now + 1_000);
  await assert.rejects(create("private"), { code: "QUOTA_EXCEEDED", message: /5 private keys/ });
  for (let count = 0; count < 5; count += 1) await create("public");
  await assert.rejects(create("public"), { code: "QUOTA_EXCEEDED" });
  await keys.create(other, { kind: "private", name: "" }, "system");

  await keys.revoke(acme, first?.id ?? "", "system");
  await create("private");
  clock.now += 1_000; // one has expired
  await create("private");
  await assert.rejects(create("private"), { code: "QUOTA_EXCEEDED" });
});

test("a list has every usable key, and of revoked ones the newest hundred", async () => {
  await using world = await openWorld();
  const { keys, acme, store, clock } = world;
  const oldest = await keys.create(acme, { kind: "private", name: "oldest" }, "system");
  const [template] = await store.db.selectFrom("apiKeys").selectAll().execute();
  assert.ok(template);
  const revoked = (at: number) => ({
    ...{ ...template, id: `revoked-${at}`, sha256: `${at}` },
    ...{ createdAt: clock.now + at, revokedAt: clock.now + at },
  });
  await store.db
    .insertInto("apiKeys")
    .values(Array.from({ length: 150 }, (_, at) => revoked(at + 1)))
    .execute();
  clock.now += 1_000;
  const newest = await keys.create(acme, { kind: "public", name: "newest" }, "system");
  const ids = (await keys.list(acme)).map(({ id }) => id);
  assert.equal(ids.length, 102);
  assert.deepEqual(
    [ids[0], ids[1], ids.at(-2), ids.at(-1)],
    [oldest.id, "revoked-51", "revoked-150", newest.id],
  );
});

test("of six creations at once, five succeed", async () => {
  await using world = await openWorld();
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, () => world.keys.create(world.acme, { kind: "private", name: "" }, "system")),
  );
  assert.equal(results.filter((result) => result.status === "fulfilled").length, 5);
});

test("another organisation's key is absent", async () => {
  await using world = await openWorld();
  const { keys, acme, other } = world;
  const { id } = await keys.create(acme, { kind: "private", name: "" }, "system");
  for (const attempt of [
    keys.revoke(other, id, "system"),
    keys.delete(other, id, "system"),
    keys.rotate(other, id, { overlapMs: 0, actor: "system" }),
    keys.revoke(acme, "unknown", "system"),
  ]) {
    await assert.rejects(attempt, { code: "NOT_FOUND" });
  }
  assert.deepEqual(await keys.list(other), []);
  assert.equal((await keys.list(acme))[0]?.revokedAt, null);
});

test("a rotated key lives on for the overlap, its successor has the same rights", async () => {
  await using world = await openWorld();
  const { keys, acme, clock } = world;
  const input = { kind: "public", name: "site", agents: ["a"], ratePerMinute: 3, concurrency: 2 } as const;
  const old = await keys.create(acme, { ...input, agents: ["a"] }, "system");
  const rotate = (id: string, overlapMs: number) => keys.rotate(acme, id, { overlapMs, actor: "system" });
  await assert.rejects(rotate(old.id, ROTATION_OVERLAP_MAX_MS + 1), { code: "GENERIC_BAD_REQUEST" });
  const next = await rotate(old.id, 1_000);
  const listed = async (id: string) => (await keys.list(acme)).find((key) => key.id === id);
  const before = await listed(old.id);
  const after = await listed(next.id);
  assert.equal(before?.expiresAt, clock.now + 1_000);
  const { kind, name, agents, ratePerMinute, concurrency, expiresAt } = after ?? {};
  assert.deepEqual(
    { kind, name, agents, ratePerMinute, concurrency, expiresAt },
    { ...input, expiresAt: null },
  );
  assert.notEqual(next.value, old.value);

  // Rotating an old key again must not extend its end.
  await rotate(old.id, ROTATION_OVERLAP_MAX_MS);
  assert.equal((await listed(old.id))?.expiresAt, clock.now + 1_000);
  clock.now += 1_000;
  await assert.rejects(rotate(old.id, 0), { code: "GENERIC_BAD_REQUEST" });
});

test("rotation does not pile up keys", async () => {
  await using world = await openWorld();
  const { keys, acme } = world;
  let { id } = await keys.create(acme, { kind: "private", name: "" }, "system");
  for (let count = 1; count < 10; count += 1) {
    ({ id } = await keys.rotate(acme, id, { overlapMs: ROTATION_OVERLAP_MAX_MS, actor: "system" }));
  }
  await assert.rejects(keys.rotate(acme, id, { overlapMs: 0, actor: "system" }), {
    code: "QUOTA_EXCEEDED",
  });
});

test("every change leaves its audit row", async () => {
  await using world = await openWorld();
  const { keys, acme, store } = world;
  const { id } = await keys.create(acme, { kind: "private", name: "" }, "user:1");
  const next = await keys.rotate(acme, id, { overlapMs: 0, actor: "user:2" });
  await keys.revoke(acme, next.id, "user:3");
  await keys.revoke(acme, next.id, "user:3");
  await keys.delete(acme, next.id, "user:4");
  const rows = await store.db
    .selectFrom("audit")
    .select(["actor", "action", "target"])
    .where("target", "like", "key:%")
    .orderBy("actor")
    .orderBy("action")
    .execute();
  assert.deepEqual(
    rows.map((row) => [row.actor, row.action, row.target]),
    [
      ["user:1", "key-created", `key:${id}`],
      ["user:2", "key-created", `key:${next.id}`],
      ["user:2", "key-rotated", `key:${id}`],
      ["user:3", "key-revoked", `key:${next.id}`],
      ["user:4", "key-deleted", `key:${next.id}`],
    ],
  );
});

test("last use is written at most once a minute", async () => {
  await using world = await openWorld();
  const { keys, acme, store, clock } = world;
  const { value } = await keys.create(acme, { kind: "private", name: "" }, "system");
  const begin = clock.now;
  const use = async () => {
    await using cache = createKeyCache({ store, clock });
    await cache.find(parseKey(value)?.sha256 ?? "");
    await cache.find(parseKey(value)?.sha256 ?? "");
  };
  const lastUsedAt = async () => (await keys.list(acme))[0]?.lastUsedAt;
  await use();
  assert.equal(await lastUsedAt(), begin);
  clock.now += 59_999;
  await use();
  assert.equal(await lastUsedAt(), begin);
  clock.now += 1;
  await use();
  assert.equal(await lastUsedAt(), begin + 60_000);
});

test("only public keys have limits, and sensible ones", async () => {
  await using world = await openWorld();
  const { keys, acme } = world;
  for (const input of [
    { kind: "private", agents: ["a"] },
    { kind: "private", ratePerMinute: 1 },
    { kind: "public", ratePerMinute: 0 },
    { kind: "public", concurrency: 1.5 },
    { kind: "public", name: "x".repeat(101) },
  ] as const) {
    const attempt = async () =>
      keys.create(acme, { name: "", ...input, agents: "agents" in input ? ["a"] : null }, "system");
    await assert.rejects(attempt, { code: "GENERIC_BAD_REQUEST" });
  }
});

const principal: KeyPrincipal = {
  kind: "key",
  keyId: "k",
  keyKind: "public",
  organizationId: "o" as OrganizationId,
  agents: ["parrot"],
  ratePerMinute: 2,
  concurrency: null,
};

test("a key that was given no rate has the service's", async () => {
  const limits = createStartLimits({
    clock: createTestClock(),
    startsPerMinute: 3,
    organizationPerSecond: async () => 10,
  });
  const plain = { ...principal, ratePerMinute: null };
  for (let start = 0; start < 3; start++) await limits.take(plain);
  await assert.rejects(limits.take(plain), { code: "RATE_LIMITED" });
});

test("all keys and people of an organisation start as often as it may, and others notice nothing", async () => {
  const clock = createTestClock();
  const limits = createStartLimits({ clock, organizationPerSecond: async (id) => (id === "o" ? 2 : 5) });
  const key = (keyId: string) => ({ ...principal, keyId, ratePerMinute: 1_000 });
  const owner = { kind: "user", userId: "u", email: "", role: "owner" } as const;
  const person = { ...owner, organizationId: principal.organizationId };
  for (let start = 0; start < 10; start++) {
    await limits.take(key(`key-${start}`));
    await limits.take(person);
  }
  const refusal = {
    code: "RATE_LIMITED",
    message: "This organisation may start 2 sessions a second: wait a moment, or ask for more",
  };
  await assert.rejects(limits.take(key("new")), refusal);
  await assert.rejects(limits.take(person), refusal);
  await limits.take({ ...key("new"), organizationId: "other" as OrganizationId });
  clock.monotonic += 1_000;
  await limits.take(key("new"));
  await limits.take(person);
  await assert.rejects(limits.take(person), refusal);
});

test("a key starts as often as its rate allows", async () => {
  const clock = createTestClock();
  const limits = createStartLimits({ clock, organizationPerSecond: async () => 10 });
  await limits.take(principal);
  await limits.take(principal);
  await assert.rejects(limits.take(principal), { code: "RATE_LIMITED" });
  await limits.take({ ...principal, keyId: "another" });
  clock.monotonic += 30_000;
  await limits.take(principal);
  await assert.rejects(limits.take(principal), { code: "RATE_LIMITED" });
  clock.monotonic += 600_000;
  await limits.take(principal);
  await limits.take(principal);
  await assert.rejects(limits.take(principal), { code: "RATE_LIMITED" });

  requireAgentAllowed(principal, "parrot");
  assert.throws(() => requireAgentAllowed(principal, "other"), { code: "NOT_FOUND" });
  requireAgentAllowed({ ...principal, agents: null }, "other");
});

test("a cookie counts only when our own page asks", () => {
  const page: BrowserRequest = {
    method: "POST",
    origin: "https://us",
    secFetchSite: "same-origin",
    authorization: undefined,
    cookie: "x=y",
  };
  const rows: [Partial<BrowserRequest>, boolean][] = [
    [{}, true],
    [{ secFetchSite: undefined }, true],
    [{ secFetchSite: "none" }, true],
    [{ secFetchSite: "cross-site" }, false],
    [{ secFetchSite: "same-site" }, false],
    [{ origin: undefined }, false],
    [{ origin: "null" }, false],
    [{ origin: "https://us.evil" }, false],
    [{ origin: "http://us" }, false],
    [{ origin: "https://evil", authorization: "Bearer x" }, true],
    [{ origin: "https://evil", cookie: undefined }, true],
    [{ origin: "https://evil", method: "GET" }, true],
    [{ origin: "https://evil", method: "GET", isUpgrade: true }, false],
    [{ origin: "https://evil", method: "delete" }, false],
  ];
  for (const [changes, isAllowed] of rows) {
    const check = () => requireSameOrigin({ ...page, ...changes }, ["https://us"]);
    if (isAllowed) check();
    else assert.throws(check, { code: "ORIGIN_NOT_ALLOWED" });
  }
});

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openMemoryStore());
  const clock = createTestClock();
  const cache = stack.use(createKeyCache({ store, clock }));
  const keys = createApiKeys({ store, clock, cache, failpoint: createFailpoint(undefined) });
  const change = { actor: "system", nowMs: 1 };
  const acme = await store.transaction((tx) => createOrganization(tx, { name: "acme" }, change));
  const other = await store.transaction((tx) => createOrganization(tx, { name: "other" }, change));
  const owned = stack.move();
  return { store, clock, keys, acme, other, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
