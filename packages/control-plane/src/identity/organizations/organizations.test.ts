import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "../principal.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { addMember, changeRole, listMembers, removeMember } from "../members.ts";
import { createOrganization, organizationsOf } from "./organizations.ts";
import { changeProperties, readProperties, readPropertiesSchema } from "./properties.ts";

const change = { actor: "user:1", nowMs: 7 };
const regions = ["us-west", "us-east", "eu-central"];

test("names are unique and fit into an address", async () => {
  await using store = await openMemoryStore();
  await create(store, "acme");
  await assert.rejects(create(store, "acme"), { code: "CONFLICT" });
  for (const name of ["", "a", "-a", "a-", "A", "a.b", "a b", "a".repeat(55)]) {
    await assert.rejects(create(store, name), { code: "GENERIC_BAD_REQUEST" }, name);
  }
});

test("properties: defaults, change, and refusals word for word", async () => {
  await using store = await openMemoryStore();
  const acme = await create(store, "acme");
  assert.deepEqual(await readProperties(store.db, acme, regions), { defaultRegion: "us-west" });
  const set = (wanted: unknown) => changeProperties(store, acme, wanted, { ...change, regions });
  const expected = {
    defaultRegion: {
      type: "string",
      description: "Region of agents and secret sets that name none",
      default: "us-west",
      currentValue: "eu-central",
      readOnly: false,
      availableValues: regions,
    },
  };
  assert.deepEqual(await set({ defaultRegion: "eu-central" }), expected);
  assert.deepEqual(await readPropertiesSchema(store.db, acme, regions), expected);
  assert.deepEqual(await readProperties(store.db, acme, ["us-east"]), { defaultRegion: "us-east" });

  const rows: [unknown, string][] = [
    [{ invalidProp: 1 }, "Property 'invalidProp' is not a valid property"],
    [{ defaultRegion: "us-east", invalidProp: 1 }, "Property 'invalidProp' is not a valid property"],
    [{ defaultRegion: "x" }, "Region 'x' is not available. Available regions: us-west, us-east, eu-central"],
    [{}, "No properties provided"],
    [null, "No properties provided"],
    [[], "No properties provided"],
  ];
  for (const [wanted, message] of rows) {
    await assert.rejects(set(wanted), { code: "GENERIC_BAD_REQUEST", message });
  }
  const audit = await store.db.selectFrom("audit").select("action").orderBy("action").execute();
  assert.deepEqual(
    audit.map((row) => row.action),
    ["organization-created", "properties-changed"],
  );
});

test("an organisation keeps an owner", async () => {
  await using store = await openMemoryStore();
  const acme = await create(store, "acme");
  const other = await create(store, "other");
  await store.transaction(async (tx) => {
    await addMember(tx, acme, { userId: "olga", role: "owner" }, change);
    await addMember(tx, acme, { userId: "vera", role: "viewer" }, change);
    await addMember(tx, acme, { userId: "olga", role: "viewer" }, change);
    await addMember(tx, other, { userId: "vera", role: "owner" }, change);
  });
  const needsOwner = { code: "GENERIC_BAD_REQUEST", message: "An organisation needs an owner" };
  await assert.rejects(removeMember(store, acme, "olga", change), needsOwner);
  await assert.rejects(changeRole(store, acme, { userId: "olga", role: "admin" }, change), needsOwner);
  await assert.rejects(removeMember(store, acme, "nobody", change), { code: "NOT_FOUND" });

  await changeRole(store, acme, { userId: "vera", role: "owner" }, change);
  const results = await Promise.allSettled(
    ["olga", "vera"].map((userId) => removeMember(store, acme, userId, change)),
  );
  assert.deepEqual(results.map((result) => result.status).sort(), ["fulfilled", "rejected"]);
  assert.equal((await listMembers(store.db, acme)).length, 1);
  const names = (await organizationsOf(store.db, "vera")).map(({ name, role }) => `${name} ${role}`);
  assert.ok(names.includes("other owner"));
});

function create(store: Store, name: string): Promise<OrganizationId> {
  return store.transaction((tx) => createOrganization(tx, { name }, change));
}
