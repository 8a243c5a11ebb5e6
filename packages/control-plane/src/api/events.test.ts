import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { ChangeEvent } from "@vocalhost/protocol";
import { newSessionRow } from "../sessions/session-row.ts";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { insertBuild } from "./testing/rows.ts";

test("every kind of change is told, coalesced, and nothing of another organisation", async () => {
  await using api = await startApiHarness();
  await using acme = follow(api, api.acme.privateKey);
  await using other = follow(api, api.other.privateKey);
  assert.deepEqual(await acme.next(), { changed: [] }, "the first says that the stream is there");
  assert.deepEqual(await other.next(), { changed: [] });

  await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  await api.client.agents.create({ serviceName: "second", image: "a/b:c" });
  assert.deepEqual(await acme.next(), { changed: ["agents", "deployments"] }, "both are one event");

  const [agent] = (await api.client.agents.list()).services;
  assert.ok(agent);
  const row = newSessionRow({
    request: { transport: "webrtc", apiKeyId: null },
    agent,
    sessionId: randomUUID(),
    nowMs: Date.now(),
  });
  await api.store.db
    .insertInto("sessions")
    .values({ ...row, state: "ended" })
    .execute();
  assert.deepEqual(await acme.next(), { changed: ["sessions"] }, "also one that is over already");

  await insertBuild(api.store, api.acme.id);
  assert.deepEqual(await acme.next(), { changed: ["builds"] });

  await insertBuild(api.store, api.other.id);
  assert.deepEqual(await other.next(), { changed: ["builds"] }, "of the whole test it heard only its own");
});

test("nothing more is told once the right to hear it is gone", async () => {
  await using api = await startApiHarness();
  const { id, key } = await api.client.keys.create({ name: "short", type: "private" });
  await using events = follow(api, key);
  assert.deepEqual(await events.next(), { changed: [] });
  await api.client.keys.revoke(id);
  await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  assert.equal(await events.next(), undefined);
});

test("the pool is counted by what its instances do, without those that are gone", async () => {
  await using api = await startApiHarness();
  await api.client.agents.create({
    serviceName: "parrot",
    image: "a/b:c",
    autoScaling: { minAgents: 2, maxAgents: 9 },
  });
  const [agent] = (await api.client.agents.list()).services;
  assert.ok(agent);
  const states = ["requested", "starting", "ready", "ready", "busy", "draining", "stopped", "lost"] as const;
  for (const [index, state] of states.entries())
    await api.store.db
      .insertInto("instances")
      .values({
        id: randomUUID(),
        organizationId: api.acme.id,
        agentId: agent.id,
        deploymentId: agent.desiredDeploymentId,
        state,
        sessionId: null,
        address: null,
        epoch: 1,
        version: 1,
        createdAt: index,
        stateAt: index,
        readyAt: null,
        lastSeenAt: null,
        mediaPort: null,
        exitCode: null,
        cause: "test",
      })
      .execute();
  const pool = await api.client.agents.pool("parrot");
  assert.deepEqual(pool.counts, { starting: 2, warm: 2, busy: 1, draining: 1 });
  assert.equal(pool.instances.length, 6);
  assert.deepEqual([pool.minAgents, pool.maxAgents], [2, 9]);
  await assert.rejects(api.clientOf(api.other.privateKey).agents.pool("parrot"), { status: 404 });
});

test("a list can bring the records along", async () => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  const { services } = await api.client.agents.list({ includeRecord: true });
  assert.deepEqual(services[0]?.record, await api.client.agents.get("parrot"));
  assert.equal((await api.client.agents.list()).services[0]?.record, undefined);
});

test("people are told their role", async () => {
  await using api = await startApiHarness();
  const { organizations } = await api.clientOf(await api.signIn(api.acme, "viewer")).organizations();
  assert.deepEqual(organizations, [{ name: "acme", verboseName: "acme", role: "viewer" }]);
});

function follow(api: ApiHarness, token: string) {
  const ending = new AbortController();
  const events = api.clientOf(token).events({ signal: ending.signal });
  return {
    next: async (): Promise<ChangeEvent | undefined> => (await events.next()).value?.line,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await events.return(undefined);
    },
  };
}
