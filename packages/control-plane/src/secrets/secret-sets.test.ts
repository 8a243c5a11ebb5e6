import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { createFailpoint } from "@vocalhost/base/failpoints";
import { silentLog } from "@vocalhost/base/log";
import { createOrganization } from "../identity/organizations/organizations.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import type { MasterKeys } from "./master-keys.ts";
import { provisionSecrets } from "./provision.ts";
import { pruneSecretVersions } from "./prune-versions.ts";
import { SETS_MAX } from "./require-place.ts";
import { requireKnownMasterKeys, rewrapSecrets } from "./rewrap.ts";
import { parseSecretPut } from "./secret-put.ts";
import { createSecretSets } from "./secret-sets.ts";
import { environmentOf, imagePullCredentialOf } from "./secret-values.ts";

const regions = ["us-west", "us-east"];
const credential = Buffer.from("user:to:ken").toString("base64");
const imagePull = { isImagePullSecret: true, host: "https://registry.example", secretValue: credential };

test("values are merged into new versions, and never shown", async () => {
  await using world = await openWorld();
  const { sets, acme, put, environment } = world;
  assert.deepEqual(await put("bot", fields({ A: "1", B: "2" })), { region: "us-west" });
  await put("bot", { name: "bot", isImagePullSecret: false, secretKey: "B", secretValue: "3" });
  await put("bot", fields({ C: "4" }));
  await sets.deleteKey(acme, "bot", { fieldName: "A", actor: "system" });

  assert.deepEqual(await environment("bot", 1), { A: "1", B: "2" });
  assert.deepEqual(await environment("bot", 2), { A: "1", B: "3" });
  assert.deepEqual(await environment("bot", 3), { A: "1", B: "3", C: "4" });
  assert.deepEqual(await environment("bot", 4), { B: "3", C: "4" });
  const shown = await sets.get(acme, "bot");
  assert.deepEqual(shown.secrets, [{ fieldName: "B" }, { fieldName: "C" }]);
});

test("a set has values of 1 MiB at most, however they came into it", async () => {
  await using world = await openWorld();
  const { sets, acme, put, environment } = world;
  const value = (): string => randomBytes(24 * 1024).toString("base64"); // 32 KiB
  const filled = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`KEY_${at}`, value()]));
  await put("bot", fields(filled));
  const tooLarge = {
    code: "GENERIC_BAD_REQUEST",
    message: /may have 1024 KiB of names and values, and would have 10\d\d KiB: delete secrets/,
  };
  await assert.rejects(put("bot", fields({ ONE: value(), MORE: "x".repeat(1_024) })), tooLarge);
  assert.deepEqual(await environment("bot", 1), filled);
  await put("bot", fields({ KEY_0: value() })); // replaces another
  await sets.deleteKey(acme, "bot", { fieldName: "KEY_1", actor: "system" });
  await put("bot", fields({ MORE: value() }));
  const odd = Object.fromEntries(
    Array.from({ length: 36 }, (_, at) => [`KEY_${at}`, `${at}\u0001`.repeat(10_000)]),
  );
  await assert.rejects(put("odd", fields(odd)), {
    code: "GENERIC_BAD_REQUEST",
    message: /special characters/,
  });
  await assert.rejects(sets.get(acme, "odd"), { code: "NOT_FOUND" });
});

test("a set has 4,000 secrets at most", async () => {
  await using world = await openWorld();
  const several = (from: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`KEY_${from + at}`, ""]));
  for (let from = 0; from < 4_000; from += 250) await world.put("bot", fields(several(from)));
  await assert.rejects(world.put("bot", fields({ MORE: "" })), {
    code: "GENERIC_BAD_REQUEST",
    message: /may have 4000 secrets/,
  });
});

test("a set is pending until its values can be read back", async () => {
  await using world = await openWorld();
  const { store, sets, acme, put } = world;
  await put("bot", fields({ A: "1" }));
  await world.settled();
  assert.deepEqual(await sets.list(acme), [
    { name: "bot", type: "secret", region: "us-west", status: "ready" },
  ]);
  await store.db.updateTable("secretSets").set({ status: "pending" }).execute();
  await store.db.updateTable("secretValues").set({ ciphertext: "AAAA" }).execute();
  await provisionSecrets(world);
  const [failed] = await sets.list(acme);
  assert.equal(failed?.status, "failed");
  assert.match(failed?.errorMessage ?? "", /cannot be read back/);
});

test("each environment is exactly its own set's", async () => {
  await using world = await openWorld();
  const expected = Array.from({ length: 20 }, (_, index) => ({
    name: `set-${index}`,
    values: Object.fromEntries(
      Array.from({ length: (index % 5) + 1 }, (__, field) => [
        `KEY_${field}`,
        randomBytes(16).toString("hex"),
      ]),
    ),
  }));
  await Promise.all(expected.map(({ name, values }) => world.put(name, fields(values))));
  for (const { name, values } of expected) assert.deepEqual(await world.environment(name, 1), values);

  const text = await dump(world.store);
  const secrets = expected.flatMap(({ values }) => Object.values(values));
  assert.ok(secrets.every((secret) => !text.includes(secret)));
  assert.ok(secrets.every((secret) => !text.includes(Buffer.from(secret).toString("base64"))));
  for (const key of world.masterKeys) assert.ok(!text.includes(key.key.toString("base64")));
});

test("values swapped between sets, fields, versions or organisations are refused", async () => {
  await using world = await openWorld();
  const { store, put, environment } = world;
  await put("one", fields({ A: "1", B: "2" }));
  await put("one", fields({ A: "3" }));
  await put("two", fields({ A: "4", B: "5" }));
  const rows = await store.db
    .selectFrom("secretValues")
    .innerJoin("secretSets", "secretSets.id", "secretValues.setId")
    .select(["secretSets.name", "setId", "version", "fieldName", "ciphertext"])
    .orderBy("secretSets.name")
    .execute();
  const place = (row: (typeof rows)[number]) =>
    store.db
      .updateTable("secretValues")
      .where("setId", "=", row.setId)
      .where("version", "=", row.version)
      .where("fieldName", "=", row.fieldName);
  const [victim] = rows;
  assert.ok(victim);
  for (const other of rows.slice(1)) {
    await place(victim).set({ ciphertext: other.ciphertext }).execute();
    await assert.rejects(environment(victim.name, victim.version));
  }
  await place(victim).set({ ciphertext: victim.ciphertext }).execute();
  await environment(victim.name, victim.version);

  // Another organisation's row must not decrypt, even with its data key.
  await store.db
    .updateTable("secretSets")
    .set({ organizationId: world.other })
    .where("name", "=", "two")
    .execute();
  await assert.rejects(environmentOf(world, world.other, { setName: "two", version: 1 }));
});

test("another organisation's set is absent", async () => {
  await using world = await openWorld();
  const { sets, other, put } = world;
  await put("bot", fields({ A: "1" }));
  const absent = { code: "NOT_FOUND", message: "Set not found" };
  await assert.rejects(sets.get(other, "bot"), absent);
  await assert.rejects(sets.delete(other, "bot", "system"), absent);
  await assert.rejects(sets.deleteKey(other, "bot", { fieldName: "A", actor: "system" }), {
    code: "NOT_FOUND",
    message: "Secret not found",
  });
  await assert.rejects(environmentOf(world, other, { setName: "bot", version: 1 }), absent);
  assert.deepEqual(await sets.list(other), []);
});

test("of two changes at once, one is told to retry", async () => {
  await using world = await openWorld();
  const conflict = { code: "CONFLICT", message: "Secret set 'bot' was modified concurrently. Please retry." };
  const twice = async (one: unknown, two: unknown) => {
    const results = await Promise.allSettled([world.put("bot", one), world.put("bot", two)]);
    const refused = results
      .filter((result) => result.status === "rejected")
      .map((result) => result.reason as Error);
    assert.equal(refused.length, 1);
    assert.throws(() => {
      throw refused[0];
    }, conflict);
  };
  await twice(fields({ A: "1" }), fields({ B: "1" }));
  await twice(fields({ C: "1" }), fields({ D: "1" }));
  assert.equal(Object.keys(await world.environment("bot", 2)).length, 2);
});

test("refusals, word for word", async () => {
  await using world = await openWorld();
  const { put, sets, acme } = world;
  await put("bot", fields({ A: "1" }));
  await put("registry", imagePull);
  const format = "Invalid request format";
  const rows: [string, unknown, string][] = [
    [
      "registry",
      fields({ A: "1" }),
      "Must provide isImagePullSecret, host, and secretValue to update an image pull secret",
    ],
    [
      "registry",
      { ...imagePull, host: "" },
      "Must provide isImagePullSecret, host, and secretValue to update an image pull secret",
    ],
    ["bot", imagePull, "Cannot update existing regular secrets to image pull secrets"],
    [
      "bot",
      { ...fields({ A: "1" }), region: "us-east" },
      "Secret already exists in region 'us-west'. Cannot change region to 'us-east'.",
    ],
    ["new", { ...fields({ A: "1" }), region: "mars" }, "Invalid region or organization does not have access"],
    ["new", { ...imagePull, host: "no uri" }, "host must be a URI such as https://index.docker.io/v1/"],
    ["new", { ...imagePull, secretValue: "user:token" }, "secretValue must be base64 of username:token"],
    ["new", { secrets: [] }, format],
    ["new", {}, format],
    ["new", null, format],
    ["new", fields({ "A B": "1" }), format],
    ["new", fields({ ["A".repeat(65)]: "1" }), format],
    ["new", fields({ A: "nul\0" }), format],
    ["new", { secrets: [...fields({ A: "1" }).secrets, ...fields({ A: "2" }).secrets] }, format],
    ["ab", fields({ A: "1" }), format],
    ["Upper", fields({ A: "1" }), format],
    ["a".repeat(64), fields({ A: "1" }), format],
  ];
  for (const [name, body, message] of rows) {
    await assert.rejects(async () => put(name, body), { code: "GENERIC_BAD_REQUEST", message }, name);
  }
  await assert.rejects(sets.get(acme, "registry"), {
    code: "GENERIC_BAD_REQUEST",
    message: "Cannot retrieve image pull secrets by name",
  });
  await assert.rejects(sets.get(acme, "none"), { code: "NOT_FOUND", message: "Set not found" });
  await assert.rejects(sets.deleteKey(acme, "bot", { fieldName: "Z", actor: "system" }), {
    code: "NOT_FOUND",
    message: "Secret not found",
  });
});

test("an image-pull secret comes back as name and token, its host with a slash", async () => {
  await using world = await openWorld();
  const { put, acme, sets } = world;
  await put("registry", imagePull);
  assert.deepEqual(await imagePullCredentialOf(world, acme, "registry"), {
    host: "https://registry.example/",
    username: "user",
    token: "to:ken",
  });
  const changed = Buffer.from("user:new").toString("base64");
  await put("registry", { ...imagePull, secretValue: changed, host: "https://other.example/" });
  const { host, token } = await imagePullCredentialOf(world, acme, "registry");
  assert.deepEqual([host, token], ["https://other.example/", "new"]);
  const [listed] = await sets.list(acme);
  assert.equal(listed?.type, "imagePullSecret");
  await assert.rejects(environmentOf(world, acme, { setName: "registry", version: 1 }), {
    code: "NOT_FOUND",
  });
});

test("regions: the default, the wanted one, the filter", async () => {
  await using world = await openWorld();
  const { put, sets, acme, store } = world;
  await put("west", fields({ A: "1" }));
  await put("east", { ...fields({ A: "1" }), region: "us-east" });
  await put("east", { ...fields({ A: "2" }), region: "us-east" });
  await store.db.updateTable("organizations").set({ properties: '{"defaultRegion":"us-east"}' }).execute();
  assert.deepEqual(await put("later", fields({ A: "1" })), { region: "us-east" });
  const names = async (region?: string) => (await sets.list(acme, { region })).map((set) => set.name);
  assert.deepEqual(await names(), ["east", "later", "west"]);
  assert.deepEqual(await names("us-west"), ["west"]);
});

test("a deleted set is gone, with every version", async () => {
  await using world = await openWorld();
  const { put, sets, acme, store } = world;
  await put("bot", fields({ A: "1" }));
  await put("bot", fields({ A: "2" }));
  await world.settled();
  await sets.delete(acme, "bot", "user:1");
  for (const table of ["secretSets", "secretVersions", "secretValues"] as const) {
    assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), []);
  }
  await assert.rejects(sets.delete(acme, "bot", "user:1"), { code: "NOT_FOUND" });
  const audit = await store.db
    .selectFrom("audit")
    .select("action")
    .where("target", "=", "secrets:bot")
    .execute();
  assert.deepEqual(audit.map((row) => row.action).sort(), [
    "secrets-changed",
    "secrets-created",
    "secrets-deleted",
  ]);
});

test("after rotation the old master key is no longer needed, before it is", async () => {
  await using world = await openWorld();
  const { put, store, masterKeys, acme } = world;
  await put("bot", fields({ A: "1" }));
  await put("bot", fields({ B: "2" }));
  const fresh = { id: "new", key: randomBytes(32) };
  await requireKnownMasterKeys(store, masterKeys);
  await assert.rejects(
    requireKnownMasterKeys(store, [fresh]),
    /not configured: old should be in VOCALHOST_MASTER_KEYS/,
  );
  const wrong = { id: "old", key: randomBytes(32) };
  await assert.rejects(requireKnownMasterKeys(store, [wrong], "the file"), /old in the file is not the one/);
  assert.equal(await rewrapSecrets(store, [fresh, ...masterKeys]), 2);
  assert.equal(await rewrapSecrets(store, [fresh, ...masterKeys]), 0);
  await requireKnownMasterKeys(store, [fresh]);
  const context = { db: store.db, masterKeys: [fresh] as const };
  assert.deepEqual(await environmentOf(context, acme, { setName: "bot", version: 2 }), { A: "1", B: "2" });
});

test("a set that is changed again and again keeps its newest versions, and those that something runs on", async () => {
  await using world = await openWorld();
  const { put, store, clock, environment } = world;
  await addDeployment(world, { secretSet: "bot", secretVersion: 2 });
  for (let value = 1; value <= 30; value++) {
    clock.now += 1_000;
    await put("bot", fields({ A: String(value) }));
  }
  await world.settled();
  const versions = await store.db.selectFrom("secretVersions").select("version").orderBy("version").execute();
  assert.deepEqual(
    versions.map(({ version }) => version),
    [2, ...Array.from({ length: 10 }, (_, index) => index + 21)],
  );
  assert.deepEqual([await environment("bot", 2), await environment("bot", 30)], [{ A: "2" }, { A: "30" }]);
  const values = await store.db.selectFrom("secretValues").selectAll().execute();
  assert.equal(values.length, versions.length);
});

test("an organisation has only so many sets", async () => {
  await using world = await openWorld();
  const { put, store, acme } = world;
  await put("first", fields({ A: "1" }));
  await world.settled();
  const row = await store.db.selectFrom("secretSets").selectAll().executeTakeFirstOrThrow();
  const others = Array.from({ length: SETS_MAX - 1 }, (_, at) => ({
    ...row,
    id: `${at}`,
    name: `set-${at}`,
  }));
  for (let from = 0; from < others.length; from += 100)
    await store.db
      .insertInto("secretSets")
      .values(others.slice(from, from + 100))
      .execute();
  await assert.rejects(put("more", fields({ A: "1" })), { code: "QUOTA_EXCEEDED", status: 403 });
  await put("first", fields({ A: "2" }));
  await store.db
    .deleteFrom("secretSets")
    .where("organizationId", "=", acme)
    .where("name", "=", "set-0")
    .execute();
  await put("more", fields({ A: "1" }));
  await world.settled();
});

test("versions that nothing runs on any more are forgotten", async () => {
  await using world = await openWorld();
  const { put, store, clock, environment } = world;
  for (const value of ["1", "2", "3"]) await put("bot", fields({ A: value }));
  await world.settled();
  await addDeployment(world, { secretSet: "bot", secretVersion: 2 });
  assert.equal(await pruneSecretVersions(store, { nowMs: clock.now }), 0);
  assert.equal(await pruneSecretVersions(store, { nowMs: clock.now + 3_600_000 }), 1);
  await assert.rejects(environment("bot", 1), { code: "NOT_FOUND" });
  assert.deepEqual([await environment("bot", 2), await environment("bot", 3)], [{ A: "2" }, { A: "3" }]);
});

async function addDeployment(
  { store, acme }: Pick<Awaited<ReturnType<typeof openWorld>>, "store" | "acme">,
  pinned: { secretSet: string; secretVersion: number },
): Promise<void> {
  const spec = {
    image: "x",
    buildId: null,
    nodeType: "arm",
    imagePullSecretSet: null,
    ...pinned,
    agentProfile: "agent-1x",
    audioFilter: null,
    maxSessionDurationS: 60,
    websocketAuth: "none",
  };
  await store.db
    .insertInto("deployments")
    .values({
      id: "d",
      organizationId: acme,
      agentId: "a",
      phase: "Active",
      phaseStartedAt: 1,
      spec: JSON.stringify(spec),
      crashes: 0,
      lastCrashAt: null,
      lastExitCode: null,
      crashText: null,
      failureCode: null,
      failureText: null,
      version: 1,
      createdAt: 1,
      updatedAt: 1,
    })
    .execute();
}

function fields(values: Record<string, string>) {
  return {
    secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
  };
}

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openMemoryStore());
  const clock = createTestClock();
  const masterKeys: MasterKeys = [{ id: "old", key: randomBytes(32) }];
  const options = {
    store,
    clock,
    masterKeys,
    regions,
    failpoint: createFailpoint(undefined),
    log: silentLog,
  };
  const sets = stack.use(createSecretSets(options));
  const change = { actor: "system", nowMs: 1 };
  const acme = await store.transaction((tx) => createOrganization(tx, { name: "acme" }, change));
  const other = await store.transaction((tx) => createOrganization(tx, { name: "other" }, change));
  const owned = stack.move();
  return {
    ...options,
    db: store.db,
    sets,
    acme,
    other,
    put: (name: string, body: unknown) =>
      sets.put(acme, name, { put: parseSecretPut(body), actor: "user:1" }),
    environment: (setName: string, version: number) =>
      environmentOf({ db: store.db, masterKeys }, acme, { setName, version }),
    settled: () => provisionSecrets(options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function dump(store: Store): Promise<string> {
  const tables = ["secretSets", "secretVersions", "secretValues", "audit"] as const;
  const rows = await Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()));
  return JSON.stringify(rows);
}
