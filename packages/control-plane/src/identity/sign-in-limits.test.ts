import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { createOrganization } from "./organizations/organizations.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { systemClock } from "@vocalhost/base/system-clock";
import { openPeople } from "./people.ts";
import { createSignInLimits } from "./sign-in-limits.ts";

const origin = "http://localhost:7860";
const password = "correct horse";
const home = "2001:db8:1:2::7";

test("many tries from one IPv6 network are refused, and others sign in meanwhile", async () => {
  await using service = await startService();
  const tries = Array.from({ length: 40 }, (_, each) =>
    service.signIn("ada", `2001:db8:9:9::${each}`, "wrong"),
  );
  assert.equal((await service.signIn("bob", "192.0.2.7")).status, 200);
  const answers = await Promise.all(tries);
  assert.deepEqual(countOf(answers), { 401: 10, 429: 30 });
  for (const answer of answers.filter(({ status }) => status === 429)) {
    const waitS = Number(answer.headers.get("retry-after"));
    assert.ok(waitS >= 1 && waitS <= 60, String(waitS));
  }
});

test("few hash at once and few wait, and a person at a known address goes first", async () => {
  await using service = await startService();
  const tries = Array.from({ length: 60 }, (_, each) => service.signIn("ada", `198.51.100.${each}`, "wrong"));
  const order: string[] = [];
  const later = Promise.all(tries).then((answers) => {
    order.push("tries");
    return answers;
  });
  assert.equal((await service.signIn("ada", "2001:db8:1:2::8")).status, 200); // the network she was invited at
  order.push("ada");
  const answers = await later;
  assert.deepEqual(order, ["ada", "tries"]);
  const { 401: tried = 0, 429: refused = 0, 503: busy = 0 } = countOf(answers);
  assert.deepEqual([tried + busy, refused], [50, 10]);
  assert.ok(busy > 0);
  for (const { status, headers } of answers) assert.equal(headers.has("retry-after"), status !== 401);
});

test("an owner is kept out of no network she is signed in from, and of others not for long", async () => {
  const { tries, later } = openLimits();
  const from = (address: string, status = 401) => tries(address, { status, known: [home] });
  for (let each = 0; each < 50; each += 1) assert.equal((await from(`198.51.100.${each}`)).status, 401);
  const elsewhere = await from("203.0.113.1");
  assert.equal(elsewhere.status, 429);
  assert.equal((await from("2001:db8:1:2::8", 200)).status, 200);
  later(Number(elsewhere.headers.get("retry-after")) * 1_000);
  assert.equal((await from("203.0.113.1", 200)).status, 200);
});

test("neither one network nor one site of many IPv6 networks can use an account's tries up", async () => {
  for (const address of [() => "198.51.100.1", (each: number) => `2001:db8:9:${each}::1`]) {
    const { tries, later } = openLimits();
    let refused = 0;
    for (let each = 0; each < 200; each += 1) {
      later(1_000);
      if ((await tries(address(each))).status === 429) refused += 1;
    }
    assert.ok(refused > 150, String(refused));
    assert.equal((await tries("203.0.113.1", { status: 200 })).status, 200);
  }
});

test("tries from a site's many IPv6 networks are counted together, whatever the account", async () => {
  const { tries } = openLimits();
  const answers: Response[] = [];
  for (let each = 0; each < 60; each += 1)
    answers.push(await tries(`2001:db8:9:${each.toString(16)}::1`, { account: `nobody-${each}` }));
  assert.deepEqual(countOf(answers), { 401: 40, 429: 20 });
});

test("what one IPv6 network is refused costs its neighbours nothing", async () => {
  const { tries } = openLimits();
  const answers: Response[] = [];
  for (let each = 0; each < 100; each += 1)
    answers.push(await tries(`2001:db8:9:1::${each}`, { account: `nobody-${each}` }));
  assert.deepEqual(countOf(answers), { 401: 10, 429: 90 });
  assert.equal((await tries("2001:db8:9:2::1", { account: "bob", status: 200 })).status, 200);
});

test("a right password costs no try of the account, but one of the network", async () => {
  const { tries, later } = openLimits();
  for (let each = 0; each < 30; each += 1) {
    later(1_000);
    assert.equal((await tries("198.51.100.1", { status: 200 })).status, 200);
  }
  later(60_000);
  const answers: Response[] = [];
  for (let each = 0; each < 30; each += 1) answers.push(await tries("198.51.100.1", { status: 200 }));
  assert.deepEqual(countOf(answers), { 200: 10, 429: 20 });
});

/** Skips hashing and uses a clock that stands still. */
function openLimits() {
  let ms = 0;
  const limits = createSignInLimits({ ...systemClock, monotonicMs: () => ms });
  return {
    later: (byMs: number) => void (ms += byMs),
    tries: (address: string, { status = 401, known = [] as string[], account = "ada" } = {}) =>
      limits.run({ address, account, knownAddresses: async () => known }, async () =>
        Response.json({}, { status }),
      ),
  };
}

async function startService() {
  const store = await openMemoryStore();
  const people = openPeople({
    store,
    clock: systemClock,
    log: silentLog,
    baseUrl: origin,
    secret: "x".repeat(32),
  });
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor: "system", nowMs: 1 }),
  );
  const post = (path: string, body: object, address: string): Promise<Response> =>
    people.handler(
      new Request(origin + path, {
        method: "POST",
        headers: { origin, "content-type": "application/json", "x-forwarded-for": address },
        body: JSON.stringify(body),
      }),
    );
  for (const name of ["ada", "bob"]) {
    const email = `${name}@example.com`;
    const { token } = await people.invite(organizationId, { email, role: "viewer", actor: "system" });
    assert.equal((await post("/auth/redeem-link", { token, email, password }, home)).status, 200);
  }
  return {
    signIn: (name: string, address: string, tried = password) =>
      post("/auth/sign-in/email", { email: `${name}@example.com`, password: tried }, address),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function countOf(answers: readonly Response[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
