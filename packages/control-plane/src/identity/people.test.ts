import assert from "node:assert/strict";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { createOrganization } from "./organizations/organizations.ts";
import { openPostgresStore } from "@vocalhost/store/postgres";
import { openMemoryStore, openSqliteStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { postgresIsMissing, startTestPostgres } from "@vocalhost/store/testing/test-postgres";
import { systemClock } from "@vocalhost/base/system-clock";
import { CLI_CLIENT_ID } from "./auth-library.ts";
import type { OidcProvider } from "./auth-library.ts";
import { openPeople } from "./people.ts";
import type { PeopleOptions } from "./people.ts";
import { startTestProvider } from "./testing/test-oidc-provider.ts";

const origin = "http://localhost:7860";
const ada = { email: "ada@example.com", password: "correct horse", name: "Ada" };
const secret = "a secret of at least thirty-two characters";
const day = 86_400_000;

const openers: [string, (run: (store: Store) => Promise<void>) => Promise<void>][] = [
  [
    "sqlite in memory",
    async (run) => {
      await using store = await openMemoryStore();
      await run(store);
    },
  ],
  [
    "sqlite in a thread",
    async (run) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "people-"));
      await using store = await openSqliteStore({ file: join(folder.path, "store.db") });
      await run(store);
    },
  ],
  [
    "postgres",
    async (run) => {
      await using server = await startTestPostgres();
      await using store = await openPostgresStore({ url: server.url, log: silentLog });
      await run(store);
    },
  ],
];

for (const [name, withStore] of openers) {
  const skip = name === "postgres" ? postgresIsMissing() : undefined;
  test(`an owner comes through the link, once, and signs in and out: ${name}`, { skip }, () =>
    withStore(async (store) => {
      const { people, organizationId } = await setUp(store);
      const token = await people.createOwnerLink(organizationId);
      const redeemed = await people.handler(post("/auth/redeem-link", { token, ...ada }));
      assert.equal(redeemed.status, 200);
      const [cookie, ...others] = redeemed.headers.getSetCookie();
      assert.equal(others.length, 0);
      assert.match(cookie ?? "", /^__Host-vocalhost\.session_token=/);
      for (const attribute of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"])
        assert.ok(cookie?.includes(attribute));
      assert.ok(!cookie?.includes("Domain"));
      assert.equal(redeemed.headers.get("set-auth-token"), null);

      const headers = new Headers({ cookie: cookieOf(redeemed) });
      const user = await people.sessionOf(headers);
      assert.equal(user?.email, ada.email);
      const members = await store.db.selectFrom("members").selectAll().execute();
      assert.deepEqual(
        members.map(({ createdAt: _at, ...member }) => member),
        [{ organizationId, userId: user?.userId, role: "owner" }],
      );

      const again = await people.handler(
        post("/auth/redeem-link", { token, ...ada, email: "eve@example.com" }),
      );
      assert.equal(again.status, 403);
      assert.equal(((await again.json()) as { code: string }).code, "TOKEN_INVALID");
      assert.equal((await signIn(people, { ...ada, password: "wrong horse" })).status, 401);
      assert.equal((await signIn(people, { ...ada, email: "eve@example.com" })).status, 401);
      assert.equal((await signIn(people, ada)).status, 200);

      const out = await people.handler(post("/auth/sign-out", {}, { cookie: cookieOf(redeemed) }));
      assert.equal(out.status, 200);
      assert.equal(await people.sessionOf(headers), undefined);
    }),
  );

  test(`a device is let in by somebody signed in: ${name}`, { skip }, () =>
    withStore(async (store) => {
      const { people, organizationId } = await setUp(store);
      const token = await people.createOwnerLink(organizationId);
      const cookie = cookieOf(await people.handler(post("/auth/redeem-link", { token, ...ada })));
      const asked = await people.handler(
        post("/auth/device/code", { client_id: CLI_CLIENT_ID }, { origin: null }),
      );
      const code = (await asked.json()) as {
        device_code: string;
        user_code: string;
        verification_uri: string;
      };
      assert.equal(code.verification_uri, `${origin}/device`);
      const foreign = await people.handler(
        post("/auth/device/code", { client_id: "other" }, { origin: null }),
      );
      assert.equal(foreign.status, 400);

      const looked = await people.handler(
        new Request(`${origin}/auth/device?user_code=${code.user_code}`, { headers: { cookie } }),
      );
      assert.equal(looked.status, 200);
      const approved = await people.handler(
        post("/auth/device/approve", { userCode: code.user_code }, { cookie }),
      );
      assert.equal(approved.status, 200);
      const exchange = {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: code.device_code,
        client_id: CLI_CLIENT_ID,
      };
      const given = await people.handler(post("/auth/device/token", exchange, { origin: null }));
      const { access_token: accessToken } = (await given.json()) as { access_token: string };
      const bearer = (value: string) => people.sessionOf(new Headers({ authorization: `Bearer ${value}` }));
      assert.equal((await bearer(accessToken))?.email, ada.email);
      // The stored part of a token is no credential.
      assert.equal(await bearer(accessToken.split(".")[0] ?? ""), undefined);
      assert.equal(await bearer(`${accessToken.slice(0, -3)}AA=`), undefined);
      assert.equal(
        (await people.handler(post("/auth/device/token", exchange, { origin: null }))).status,
        400,
      );
    }),
  );

  test(`what has expired of signing in is forgotten: ${name}`, { skip }, () =>
    withStore(async (store) => {
      const { people, organizationId } = await setUp(store);
      const token = await people.createOwnerLink(organizationId);
      await people.handler(post("/auth/redeem-link", { token, ...ada }));
      await signIn(people, ada);
      for (let codes = 0; codes < 2; codes += 1)
        await people.handler(post("/auth/device/code", { client_id: CLI_CLIENT_ID }, { origin: null }));
      // The library uses its own column names.
      const db = store.db.withoutPlugins().withTables<Record<(typeof authTables)[number], AuthRow>>();
      const past = store.dialect === "postgres" ? new Date(1_000) : new Date(1_000).toISOString();
      const later = new Date(Date.now() + day);
      const future = store.dialect === "postgres" ? later : later.toISOString();
      for (const [id, expiresAt] of [
        ["old", past],
        ["new", future],
      ] as const)
        await db
          .insertInto("authVerifications")
          .values({ id, identifier: id, value: "x", createdAt: past, updatedAt: past, expiresAt })
          .execute();
      for (const table of ["authSessions", "authDeviceCodes"] as const) {
        const row = await db.selectFrom(table).select("id").limit(1).executeTakeFirstOrThrow();
        await db.updateTable(table).set({ expiresAt: past }).where("id", "=", row.id).execute();
      }
      const actor = "user:1";
      await people.invite(organizationId, { email: "eve@example.com", role: "viewer", actor });
      const link = { organizationId, role: "viewer", email: "bob@example.com", invitedBy: actor };
      const expired = { name: "link:expired", value: JSON.stringify({ ...link, expiresAt: 1_000 }) };
      await store.db
        .insertInto("settings")
        .values([expired, { name: "other", value: "x" }])
        .execute();

      assert.equal(await people.forgetExpired(), 4);
      for (const table of authTables) {
        const rows = await db.selectFrom(table).select("id").execute();
        assert.equal(rows.length, 1, table);
      }
      const settings = await store.db.selectFrom("settings").select("name").orderBy("name").execute();
      assert.equal(settings.length, 2);
      assert.ok(settings.some(({ name: setting }) => setting === "other"));
      assert.equal((await people.invitationsOf(organizationId)).length, 1);
      assert.equal(await people.forgetExpired(), 0);
    }),
  );
}

const authTables = ["authSessions", "authVerifications", "authDeviceCodes"] as const;
interface AuthRow {
  id: string;
  identifier: string;
  value: string;
  createdAt: Date | string;
  updatedAt: Date | string;
  expiresAt: Date | string;
}

test("of two who use a link at once, one gets in", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  const token = await people.createOwnerLink(organizationId);
  const results = await Promise.allSettled(
    ["ada@example.com", "eve@example.com"].map((email) => people.redeemLink({ ...ada, token, email })),
  );
  assert.deepEqual(results.map((result) => result.status).sort(), ["fulfilled", "rejected"]);
  assert.equal((await store.db.selectFrom("members").selectAll().execute()).length, 1);
  const signedIn = await Promise.all(
    ["ada@example.com", "eve@example.com"].map(
      async (email) => (await signIn(people, { ...ada, email })).status,
    ),
  );
  assert.deepEqual(
    signedIn.sort((left, right) => left - right),
    [200, 401],
  );
});

test("an owner's link lives a day, or until the next", async () => {
  await using store = await openMemoryStore();
  let nowMs = Date.now();
  const { people, organizationId } = await setUp(store, { clock: { ...systemClock, nowMs: () => nowMs } });
  const replaced = await people.createOwnerLink(organizationId);
  const token = await people.createOwnerLink(organizationId);
  await assert.rejects(people.redeemLink({ ...ada, token: replaced }), { code: "TOKEN_INVALID" });
  nowMs += day;
  await assert.rejects(people.redeemLink({ ...ada, token }), { code: "TOKEN_INVALID" });
  assert.equal((await signIn(people, ada)).status, 401);
});

test("an invitation is for one address and gives its role", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  const { token } = await people.invite(organizationId, {
    email: "Bob@Example.com ",
    role: "viewer",
    actor: "user:1",
  });
  const bob = { ...ada, token, email: "bob@example.com" };
  await assert.rejects(people.redeemLink({ ...ada, token }), { code: "TOKEN_INVALID" });
  const { userId } = await people.redeemLink(bob);
  const member = await store.db.selectFrom("members").select(["userId", "role"]).executeTakeFirst();
  assert.deepEqual(member, { userId, role: "viewer" });

  // A second invitation must not set another password on an existing account.
  const { token: second } = await people.invite(organizationId, {
    email: bob.email,
    role: "owner",
    actor: "user:1",
  });
  const stolen = people.redeemLink({ ...bob, token: second, password: "other password" });
  await assert.rejects(stolen, { code: "UNAUTHORIZED" });
  await people.redeemLink({ ...bob, token: second });
  const actions = await store.db.selectFrom("audit").select("action").orderBy("action").execute();
  assert.deepEqual(
    actions.map((row) => row.action),
    ["member-added", "member-invited", "member-invited", "organization-created"],
  );
});

test("an account that belongs nowhere is given a new password", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  await people.redeemLink({ ...ada, token: await people.createOwnerLink(organizationId) });
  await store.db.deleteFrom("members").execute();
  const token = await people.createOwnerLink(organizationId);
  const { userId } = await people.redeemLink({ ...ada, token, password: "another horse" });
  assert.equal((await signIn(people, { ...ada, password: "another horse" })).status, 200);
  assert.equal((await people.userOf(userId))?.email, ada.email);
  assert.equal(await people.userOf("nobody"), undefined);
  await people.endSessions(userId);
});

test("what is no redemption is refused with the field", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  const token = await people.createOwnerLink(organizationId);
  for (const body of [{}, { token, ...ada, password: "short" }, { token, ...ada, email: "ada" }]) {
    const response = await people.handler(post("/auth/redeem-link", body));
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as { error: string }).error, /^(token|password|email): /);
  }
  const garbage = new Request(`${origin}/auth/redeem-link`, {
    method: "POST",
    headers: { origin },
    body: "{",
  });
  assert.equal((await people.handler(garbage)).status, 400);
  await assert.rejects(people.invite(organizationId, { email: "no address", role: "viewer", actor: "x" }), {
    code: "GENERIC_BAD_REQUEST",
  });
  assert.throws(() =>
    openPeople({ store, clock: systemClock, log: silentLog, baseUrl: origin, secret: "short" }),
  );
});

test("nobody signs himself up, and of the library only what is needed can be reached", async () => {
  await using store = await openMemoryStore();
  const { people } = await setUp(store);
  for (const path of [
    "sign-up/email",
    "sso/register",
    "update-user",
    "delete-user",
    "../v1/agents",
    "sign-up/email/",
  ]) {
    assert.equal((await people.handler(post(`/auth/${path}`, ada))).status, 404, path);
  }
});

test("foreign pages can neither sign in nor act", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  const token = await people.createOwnerLink(organizationId);
  const cookie = cookieOf(await people.handler(post("/auth/redeem-link", { token, ...ada })));
  const foreign: Record<string, string | null>[] = [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: null, cookie },
    { origin: "http://localhost:7861", cookie },
    { origin, cookie, "sec-fetch-site": "same-site" },
  ];
  for (const headers of foreign) {
    assert.equal((await people.handler(post("/auth/sign-in/email", ada, headers))).status, 403);
    assert.equal((await people.handler(post("/auth/sign-out", {}, headers))).status, 403);
  }
  assert.ok(await people.sessionOf(new Headers({ cookie })));
});

test("the service is signed in to under the name it was reached by", async () => {
  await using store = await openMemoryStore();
  const { people, organizationId } = await setUp(store);
  const token = await people.createOwnerLink(organizationId);
  const elsewhere = "http://127.0.0.1:7860";
  const { method, headers, body } = post("/auth/redeem-link", { token, ...ada }, { origin: elsewhere });
  const init = { method, headers, body, duplex: "half" } as const;
  const redeemed = await people.handler(new Request(`${elsewhere}/auth/redeem-link`, init));
  assert.equal(redeemed.status, 200);
  const sent = { origin: elsewhere, cookie: cookieOf(redeemed), "content-type": "application/json" };
  const out = new Request(`${elsewhere}/auth/sign-out`, { method: "POST", headers: sent, body: "{}" });
  assert.equal((await people.handler(out)).status, 200);
});

test("passwords cannot be tried out", async () => {
  await using store = await openMemoryStore();
  const { people } = await setUp(store);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) {
    const request = post("/auth/sign-in/email", ada, { "x-forwarded-for": "192.0.2.1" });
    statuses.push((await people.handler(request)).status);
  }
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429]);
});

test("somebody invited comes in through the OIDC provider, without a password", async () => {
  await using store = await openMemoryStore();
  await using provider = await startTestProvider({ email: "carol@example.com", sub: "carol-1" });
  const { people, organizationId } = await setUp(store, { oidc: provider });
  await people.invite(organizationId, { email: "carol@example.com", role: "admin", actor: "user:1" });

  const { response, cookie } = await throughProvider(people);
  assert.equal(response.headers.get("location"), `${origin}/`);
  const user = await people.sessionOf(new Headers({ cookie }));
  assert.equal(user?.email, "carol@example.com");
  const member = await store.db.selectFrom("members").select(["userId", "role"]).executeTakeFirst();
  assert.deepEqual(member, { userId: user?.userId, role: "admin" });
  assert.ok(!(await dump(store)).includes(provider.issuedToken()));

  const wrong = await throughProvider(people, { state: "forged" });
  assert.match(wrong.response.headers.get("location") ?? "", /error/);
});

async function setUp(store: Store, options: Partial<PeopleOptions> & { oidc?: OidcProvider } = {}) {
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }),
  );
  const people = openPeople({
    store,
    clock: systemClock,
    log: silentLog,
    baseUrl: origin,
    secret,
    ...options,
  });
  return { people, organizationId };
}

type People = ReturnType<typeof openPeople>;

let requests = 0;

/** Each request has another address, so that tests do not share a limit. */
function post(path: string, body: unknown, headers: Record<string, string | null> = {}): Request {
  requests += 1;
  const address = `10.0.${requests >> 8}.${requests & 255}`;
  const all = { origin, "content-type": "application/json", "x-forwarded-for": address, ...headers };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return new Request(origin + path, { method: "POST", headers: sent, body: JSON.stringify(body) });
}

function signIn(people: People, { email, password }: { email: string; password: string }): Promise<Response> {
  return people.handler(post("/auth/sign-in/email", { email, password }));
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

async function throughProvider(people: People, forged: { state?: string } = {}) {
  const asked = await people.handler(
    post("/auth/sign-in/sso", { providerId: "oidc", callbackURL: `${origin}/` }),
  );
  const { url } = (await asked.json()) as { url: string };
  const atProvider = await fetch(url, { redirect: "manual" });
  const back = new URL(atProvider.headers.get("location") ?? "");
  if (forged.state) back.searchParams.set("state", forged.state);
  const response = await people.handler(new Request(back, { headers: { cookie: cookieOf(asked) } }));
  return { response, cookie: cookieOf(response) };
}

async function dump(store: Store): Promise<string> {
  const accounts = await store.db
    .withoutPlugins()
    .selectFrom("authAccounts" as never)
    .selectAll()
    .execute();
  return JSON.stringify(accounts);
}
