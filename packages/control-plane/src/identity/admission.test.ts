import assert from "node:assert/strict";
import { test } from "node:test";
import { createFailpoint } from "@vocalhost/base/failpoints";
import { addMember, removeMember } from "./members.ts";
import { createOrganization } from "./organizations/organizations.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { createAdmission } from "./admission.ts";
import type { SignedInPeople } from "./admission.ts";
import { createApiKeys } from "./api-keys.ts";
import { createKeyCache } from "./key-cache.ts";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createKey } from "./key-format.ts";
import type { Credentials, OrganizationId, Right } from "./principal.ts";
import { issueSessionToken } from "./session-tokens.ts";

// The right to reach a session follows the right to start one. Founding organisations has its own test.
type Outcome = Exclude<Right, "session" | "found">;
const rights: Outcome[] = ["view", "manage", "public"];

test("organisations are made by owners, in person, whichever they belong to besides", async () => {
  await using world = await openWorld();
  const { acme, keys } = world;
  const { value } = await keys.create(acme, { kind: "private", name: "p" }, "system");
  const rows: [Partial<Credentials>, string][] = [
    [{}, "UNAUTHORIZED"],
    [{ authorization: `Bearer ${value}` }, "UNAUTHORIZED"],
    [{ cookie: "user=olga" }, "ok"],
    [{ cookie: "user=twin" }, "ok"],
    [{ cookie: "user=adam" }, "ACCESS_DENIED"],
    [{ cookie: "user=vera" }, "ACCESS_DENIED"],
    [{ cookie: "user=lone" }, "ACCESS_DENIED"],
  ];
  for (const [credentials, expected] of rows)
    assert.equal(await outcome(world, credentials, "found"), expected, JSON.stringify(credentials));
});

test("who may do what", async () => {
  await using world = await openWorld();
  const { acme, keys } = world;
  const privateKey = await keys.create(acme, { kind: "private", name: "p" }, "system");
  const publicKey = await keys.create(acme, { kind: "public", name: "p" }, "system");
  const revoked = await keys.create(acme, { kind: "private", name: "r" }, "system");
  await keys.revoke(acme, revoked.id, "system");
  const deleted = await keys.create(acme, { kind: "public", name: "d" }, "system");
  await keys.delete(acme, deleted.id, "system");
  const expired = await keys.create(
    acme,
    { kind: "public", name: "e", expiresAt: world.clock.now },
    "system",
  );

  const nothing = { view: "UNAUTHORIZED", manage: "UNAUTHORIZED", public: "UNAUTHORIZED" };
  const unasked = { ...nothing, public: "AGENT-1002" };
  const rows: [string, Partial<Credentials>, Record<Outcome, string>][] = [
    ["none", {}, unasked],
    ["somebody else's cookie", { cookie: "theme=dark" }, unasked],
    ["empty header", { authorization: "" }, nothing],
    ["other scheme", { authorization: "Basic YTpi" }, nothing],
    ["no token", { authorization: "Bearer " }, nothing],
    ["two tokens", { authorization: `Bearer ${privateKey.value} ${privateKey.value}` }, nothing],
    ["malformed key", { authorization: "Bearer sk_short" }, nothing],
    ["mistyped key", { authorization: `Bearer ${privateKey.value.slice(0, -1)}!` }, nothing],
    ["unknown key", { authorization: `Bearer ${createKey("private")}` }, nothing],
    ["unknown public key", { authorization: `Bearer ${createKey("public")}` }, nothing],
    ["revoked", { authorization: `Bearer ${revoked.value}` }, nothing],
    ["deleted", { authorization: `Bearer ${deleted.value}` }, nothing],
    ["expired", { authorization: `Bearer ${expired.value}` }, nothing],
    ["unknown token", { authorization: "Bearer whatever" }, nothing],
    [
      "private",
      { authorization: `Bearer ${privateKey.value}` },
      { view: "ok", manage: "ok", public: "UNAUTHORIZED" },
    ],
    [
      "lower-case scheme",
      { authorization: `bearer ${privateKey.value}` },
      { view: "ok", manage: "ok", public: "UNAUTHORIZED" },
    ],
    [
      "private, as another command line wants it",
      { authorization: `Bearer pcc_pat_${privateKey.value}` },
      { view: "ok", manage: "ok", public: "UNAUTHORIZED" },
    ],
    ["their prefix alone", { authorization: "Bearer pcc_pat_" }, nothing],
    ["public", { authorization: `Bearer ${publicKey.value}` }, { ...nothing, public: "ok" }],
    [
      "private, own organisation named",
      { authorization: `Bearer ${privateKey.value}`, organizationName: "acme" },
      { view: "ok", manage: "ok", public: "UNAUTHORIZED" },
    ],
    [
      "private, other organisation named",
      { authorization: `Bearer ${privateKey.value}`, organizationName: "other" },
      { view: "NOT_FOUND", manage: "NOT_FOUND", public: "UNAUTHORIZED" },
    ],
    [
      "private, unknown organisation named",
      { authorization: `Bearer ${privateKey.value}`, organizationName: "nobody" },
      { view: "NOT_FOUND", manage: "NOT_FOUND", public: "UNAUTHORIZED" },
    ],
    [
      "public, other organisation named",
      { authorization: `Bearer ${publicKey.value}`, organizationName: "other" },
      { ...nothing, public: "NOT_FOUND" },
    ],
    ["owner by cookie", { cookie: "user=olga" }, { view: "ok", manage: "ok", public: "ok" }],
    ["owner by bearer", { authorization: "Bearer olga" }, { view: "ok", manage: "ok", public: "ok" }],
    [
      "owner with a bad key beside a good cookie",
      { authorization: "Bearer sk_x", cookie: "user=olga" },
      nothing,
    ],
    ["admin", { cookie: "user=adam" }, { view: "ok", manage: "ok", public: "ok" }],
    ["viewer", { cookie: "user=vera" }, { view: "ok", manage: "ACCESS_DENIED", public: "ACCESS_DENIED" }],
    [
      "owner, foreign organisation named",
      { cookie: "user=olga", organizationName: "other" },
      { view: "NOT_FOUND", manage: "NOT_FOUND", public: "NOT_FOUND" },
    ],
    [
      "owner, unknown organisation named",
      { cookie: "user=olga", organizationName: "nobody" },
      { view: "NOT_FOUND", manage: "NOT_FOUND", public: "NOT_FOUND" },
    ],
    [
      "of two, none named",
      { cookie: "user=twin" },
      { view: "ok", manage: "GENERIC_BAD_REQUEST", public: "GENERIC_BAD_REQUEST" },
    ],
    [
      "of two, viewer there",
      { cookie: "user=twin", organizationName: "acme" },
      { view: "ok", manage: "ACCESS_DENIED", public: "ACCESS_DENIED" },
    ],
    [
      "of two, owner there",
      { cookie: "user=twin", organizationName: "other" },
      { view: "ok", manage: "ok", public: "ok" },
    ],
    [
      "of none",
      { cookie: "user=lone" },
      { view: "ACCESS_DENIED", manage: "ACCESS_DENIED", public: "ACCESS_DENIED" },
    ],
  ];
  for (const [name, credentials, expected] of rows) {
    for (const right of rights) {
      assert.equal(await outcome(world, credentials, right), expected[right], `${name}, ${right}`);
    }
  }
});

test("the organisation comes from the credential", async () => {
  await using world = await openWorld();
  const { acme, other, keys, admit } = world;
  const key = await keys.create(
    other,
    { kind: "public", name: "", agents: ["parrot"], ratePerMinute: 5, concurrency: 2 },
    "system",
  );
  const credentials = { cookie: undefined, organizationName: undefined };
  assert.deepEqual(await admit({ ...credentials, authorization: `Bearer ${key.value}` }, "public"), {
    kind: "key",
    keyId: key.id,
    keyKind: "public",
    organizationId: other,
    agents: ["parrot"],
    ratePerMinute: 5,
    concurrency: 2,
  });
  assert.deepEqual(await admit({ ...credentials, authorization: "Bearer vera" }, "view"), {
    kind: "user",
    userId: "vera",
    email: "vera@example.com",
    role: "viewer",
    organizationId: acme,
  });
});

test("revocation works at once here and within a second on another node", async () => {
  await using world = await openWorld();
  const { acme, keys, clock, store, people } = world;
  const key = await keys.create(acme, { kind: "private", name: "" }, "system");
  await using elsewhereCache = createKeyCache({ store, clock });
  const elsewhere = { admit: createAdmission({ store, clock, people, keyCache: elsewhereCache, signer }) };
  const credentials = { authorization: `Bearer ${key.value}` };
  for (const node of [world, elsewhere]) assert.equal(await outcome(node, credentials, "view"), "ok");

  await keys.revoke(acme, key.id, "system");
  assert.equal(await outcome(world, credentials, "view"), "UNAUTHORIZED");
  clock.monotonic += 999;
  assert.equal(await outcome(elsewhere, credentials, "view"), "UNAUTHORIZED");
});

test("a remembered key still expires on time", async () => {
  await using world = await openWorld();
  const { acme, keys, clock } = world;
  const key = await keys.create(acme, { kind: "private", name: "", expiresAt: clock.now + 100 }, "system");
  const credentials = { authorization: `Bearer ${key.value}` };
  assert.equal(await outcome(world, credentials, "view"), "ok");
  clock.now += 100;
  assert.equal(await outcome(world, credentials, "view"), "UNAUTHORIZED");
});

test("a session token reaches its session, as long as who started it may", async () => {
  await using world = await openWorld();
  const { acme, clock, store, admit } = world;
  const sessionId = "0b0e7e3c-6d0f-4c0e-9a53-9a1d3a3b7b11";
  const expiresAt = Math.ceil(clock.now / 1000) + 60;
  const token = { sessionId, organizationId: acme, userId: "adam", expiresAt };
  const bearer = (changes = {}, secret = signer.secret) => ({
    authorization: `Bearer ${issueSessionToken({ secret }, { ...token, ...changes })}`,
  });
  for (const right of rights) assert.equal(await outcome(world, bearer(), right), "UNAUTHORIZED", right);
  assert.equal(await outcome(world, bearer(), "session"), "ok");
  const rows: [string, Partial<Credentials>][] = [
    ["another's signature", bearer({}, "another secret")],
    ["garbage", { authorization: "Bearer st_abc.def" }],
    ["no signature", { authorization: "Bearer st_" }],
    ["expired", bearer({ expiresAt: Math.floor(clock.now / 1000) })],
    ["of a viewer", bearer({ userId: "vera" })],
    ["of somebody who left", bearer({ userId: "lone" })],
    ["for another organisation", bearer({ organizationId: world.other })],
    ["with an organisation named", { ...bearer(), organizationName: "acme" }],
  ];
  for (const [name, credentials] of rows)
    assert.equal(await outcome(world, credentials, "session"), "UNAUTHORIZED", name);
  const whole = { ...bearer(), cookie: undefined, organizationName: undefined };
  assert.deepEqual(await admit(whole, "session"), {
    kind: "session",
    sessionId,
    userId: "adam",
    organizationId: acme,
  });
  await removeMember(store, acme, "adam", { actor: "system", nowMs: 2 });
  assert.equal(await outcome(world, bearer(), "session"), "UNAUTHORIZED");
});

const signer = { secret: "of the service" };

async function outcome(
  { admit }: Pick<World, "admit">,
  credentials: Partial<Credentials>,
  right: Right,
): Promise<string> {
  const whole = { authorization: undefined, cookie: undefined, organizationName: undefined, ...credentials };
  return admit(whole, right).then(
    () => "ok",
    (error: { code: string }) => error.code,
  );
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openMemoryStore());
  const clock = createTestClock();
  const keyCache = stack.use(createKeyCache({ store, clock }));
  const keys = createApiKeys({ store, clock, cache: keyCache, failpoint: createFailpoint(undefined) });
  const admit = createAdmission({ store, clock, keyCache, people, signer });
  const acme = await organization(store, "acme", {
    olga: "owner",
    adam: "admin",
    vera: "viewer",
    twin: "viewer",
  });
  const other = await organization(store, "other", { twin: "owner" });
  const owned = stack.move();
  return {
    store,
    clock,
    keys,
    admit,
    people,
    acme,
    other,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Each person's token is the name. */
const people: SignedInPeople = {
  async sessionOf(headers) {
    const name =
      headers.get("authorization")?.slice(7) ?? /user=(\w+)/.exec(headers.get("cookie") ?? "")?.[1];
    const known = ["olga", "adam", "vera", "twin", "lone"].find((each) => each === name);
    return known === undefined ? undefined : { userId: known, email: `${known}@example.com` };
  },
};

function organization(
  store: Store,
  name: string,
  members: Record<string, "owner" | "admin" | "viewer">,
): Promise<OrganizationId> {
  return store.transaction(async (tx) => {
    const change = { actor: "system", nowMs: 1 };
    const id = await createOrganization(tx, { name }, change);
    for (const [userId, role] of Object.entries(members)) await addMember(tx, id, { userId, role }, change);
    return id;
  });
}
