// Tests one name in two regions through the REST interface.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newSessionRow } from "../sessions/session-row.ts";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { insertSecretSet } from "./testing/rows.ts";

const image = "acme/parrot:1";

async function inBoth(): Promise<ApiHarness> {
  const api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image });
  await api.client.agents.create({ serviceName: "parrot", image, region: "eu-central" });
  return api;
}

test("a second agent of a name is made only by who names another region", async () => {
  await using api = await startApiHarness();
  const { agents } = api.client;
  await agents.create({ serviceName: "parrot", image, region: "eu-central" });
  const exists = { status: 400, message: /Service already exists/ };
  await assert.rejects(agents.create({ serviceName: "parrot", image }), exists, "the default region is free");
  await assert.rejects(agents.create({ serviceName: "parrot", image, region: "eu-central" }), exists);
  const second = await agents.create({ serviceName: "parrot", image, region: "us-west" });
  assert.equal(second.region, "us-west");
  assert.deepEqual(second.regions, ["eu-central", "us-west"], "its own region is where it was first");
  const { services } = await agents.list();
  assert.deepEqual(
    services.map(({ name, region }) => [name, region]),
    [
      ["parrot", "eu-central"],
      ["parrot", "us-west"],
    ],
  );
  await assert.rejects(api.clientOf(api.other.privateKey).agents.get("parrot", { region: "us-west" }), {
    status: 404,
  });
});

test("who reads gets the agent's own region, who changes says which", async () => {
  await using api = await inBoth();
  const { agents } = api.client;
  assert.equal((await agents.get("parrot")).region, "us-west");
  assert.equal((await agents.get("parrot", { region: "eu-central" })).region, "eu-central");
  await assert.rejects(agents.get("parrot", { region: "eu-north" }), { status: 404 });

  const asked = { status: 400 };
  const scaling = { autoScaling: { minAgents: 2 } };
  const { desiredDeploymentId: own } = await agents.get("parrot");
  for (const change of [
    () => agents.update("parrot", scaling),
    () => agents.update("parrot", { ...scaling, region: "eu-north" }),
    () => agents.delete("parrot"),
    () => agents.rollback("parrot", own),
  ])
    await assert.rejects(change, asked);
  assert.equal(
    (await agents.update("parrot", { ...scaling, region: "eu-central" })).autoScaling.minReplicas,
    2,
  );
  assert.equal((await agents.get("parrot")).autoScaling.minReplicas, 0, "the other is as it was");
  assert.equal((await agents.pool("parrot", { region: "eu-central" })).minAgents, 2);

  const first = (await agents.get("parrot", { region: "eu-central" })).desiredDeploymentId;
  await assert.rejects(agents.rollback("parrot", first, { region: "us-west" }), { status: 404 });
  const back = await agents.rollback("parrot", first, { region: "eu-central" });
  assert.equal(back.region, "eu-central");
  const { deployments } = await agents.deployments("parrot", { region: "eu-central" });
  assert.deepEqual(
    deployments.map(({ id }) => id),
    [back.desiredDeploymentId, first],
  );

  await agents.delete("parrot", { region: "us-west" });
  assert.equal((await agents.get("parrot")).region, "eu-central", "what goes is nobody's own region");
});

test("one that is left can be changed without naming its region", async () => {
  await using api = await inBoth();
  const { agents } = api.client;
  await api.store.db
    .updateTable("agents")
    .set({ state: "deleted" })
    .where("region", "=", "us-west")
    .execute();
  const { region, regions } = await agents.update("parrot", { autoScaling: { minAgents: 1 } });
  assert.deepEqual([region, regions], ["eu-central", ["eu-central"]]);
});

test("secrets of one region are not to be had in another", async () => {
  await using api = await inBoth();
  const { agents } = api.client;
  await insertSecretSet(api.store, api.acme.id, { name: "western", region: "us-west" });
  await assert.rejects(agents.update("parrot", { region: "eu-central", secretSet: "western" }), {
    status: 400,
    message: /Secret set 'western' is in region 'us-west' but service is in region 'eu-central'/,
  });
  const bound = await agents.update("parrot", { region: "us-west", secretSet: "western" });
  assert.deepEqual(bound.deployment?.manifest.spec.envFromSecretNames, ["western"]);
});

test("sessions and logs are the agent's in whichever region, or in one", async () => {
  await using api = await inBoth();
  const { store, client, acme } = api;
  const rows = await store.db.selectFrom("agents").selectAll().orderBy("region").execute();
  for (const [index, agent] of rows.entries()) {
    const request = { transport: "webrtc", apiKeyId: null } as const;
    const sessionId = crypto.randomUUID();
    const session = {
      ...newSessionRow({ request, agent, sessionId, nowMs: index }),
      regionReason: "requested",
    };
    await store.db.insertInto("sessions").values(session).execute();
    await store.db
      .insertInto("logLines")
      .values({
        ...{ instanceId: agent.id, position: 0, organizationId: acme.id, agentId: agent.id },
        ...{ deploymentId: agent.desiredDeploymentId, sessionId, at: index, nanos: 0, text: agent.region },
      })
      .execute();
  }
  const both = await client.sessions.list("parrot");
  assert.deepEqual(
    both.sessions.map(({ region, regionReason }) => [region, regionReason]),
    [
      ["us-west", "requested"],
      ["eu-central", "requested"],
    ],
  );
  assert.equal(both.total_count, 2);
  const [western] = (await client.sessions.list("parrot", { region: "us-west" })).sessions;
  assert.equal(western?.region, "us-west");
  for (const { sessionId, region } of both.sessions)
    assert.equal((await client.sessions.get("parrot", sessionId)).region, region);
  const lines = async (query: { region?: string }): Promise<string[]> =>
    (await client.agents.logs("parrot", { ...query, order: "asc" })).logs.map(({ log }) => log);
  assert.deepEqual(await lines({}), ["eu-central", "us-west"]);
  assert.deepEqual(await lines({ region: "eu-central" }), ["eu-central"]);
});
