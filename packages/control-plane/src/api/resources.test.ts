import type { BuildStarted } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { startApiHarness } from "./testing/api-harness.ts";
import { rejects } from "./testing/check-refusal.ts";
import { insertBuild } from "./testing/rows.ts";

const BAD = "GENERIC_BAD_REQUEST";

test("regions, for a key and for somebody signed in, and for nobody else", async () => {
  await using api = await startApiHarness();
  const expected = {
    regions: [
      { code: "us-west", display_name: "US West (Oregon)" },
      { code: "eu-central", display_name: "Europe (Frankfurt)" },
    ],
  };
  for (const token of [api.acme.privateKey, await api.signIn(api.acme, "viewer")]) {
    const response = await api.fetch("/v1/regions", { token });
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), expected);
  }
  const refused = await api.fetch("/v1/regions");
  assert.equal(refused.status, 401);
  assert.deepEqual(await refused.json(), {
    error: "Unauthorized",
    code: "UNAUTHORIZED",
  });
});

test("an unexpected failure says nothing but that it was one", async () => {
  const admit = () => Promise.reject(new Error("secret details"));
  await using api = await startApiHarness({ admit });
  const response = await api.fetch("/v1/regions");
  assert.equal(response.status, 500);
  assert.deepEqual(await response.json(), {
    error: "Internal server error",
    code: "INTERNAL_SERVER_ERROR",
  });
});

test("properties", async () => {
  await using api = await startApiHarness();
  const { properties } = api.client;
  assert.deepEqual(await properties.get(), { properties: { defaultRegion: "us-west" } });
  const changed = await properties.patch({ defaultRegion: "eu-central" });
  assert.deepEqual(
    { ...changed.properties.defaultRegion, description: "" },
    {
      type: "string",
      description: "",
      default: "us-west",
      currentValue: "eu-central",
      readOnly: false,
      availableValues: ["us-west", "eu-central"],
    },
  );
  assert.deepEqual(await properties.schema(), changed);
  const agent = await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  assert.equal(agent.region, "eu-central");
  const patch = (body: object) => properties.patch(body as never);
  await rejects(patch({ invalidProp: 1 }), 400, BAD, "Property 'invalidProp' is not a valid property");
  await rejects(patch({}), 400, BAD, "No properties provided");
  await rejects(
    patch({ defaultRegion: "x" }),
    400,
    BAD,
    "Region 'x' is not available. Available regions: us-west, eu-central",
  );
});

test("private keys are shown once, public ones to their managers, and both end when they are revoked", async () => {
  await using api = await startApiHarness();
  const { keys } = api.client;
  const { id, key } = await keys.create({
    name: "web",
    type: "public",
    agents: ["parrot"],
    ratePerMinute: 5,
  });
  assert.match(key, /^pk_/);
  const list = await keys.list();
  assert.equal(list.private.length, 1);
  const shown = list.public.find((each) => each.id === id);
  assert.deepEqual(
    {
      name: shown?.metadata.name,
      agents: shown?.agents,
      rate: shown?.ratePerMinute,
      revoked: shown?.revoked,
    },
    { name: "web", agents: ["parrot"], rate: 5, revoked: false },
  );
  assert.equal(shown?.key, key);
  assert.match(list.private[0]?.key ?? "", /^sk_….{4}$/);
  const viewer = api.clientOf(await api.signIn(api.acme, "viewer"));
  const masked = (await viewer.keys.list()).public.find((each) => each.id === id)?.key;
  assert.equal(masked, `pk_…${key.slice(-4)}`);
  const start = () => api.fetch("/v1/public/parrot/start", { method: "POST", token: key });
  assert.equal((await start()).status, 200);
  const next = await keys.rotate(id, 60);
  assert.equal((await start()).status, 200);
  assert.deepEqual(await keys.revoke(next.id), { status: "OK" });
  assert.deepEqual(await keys.revoke(id), { status: "OK" });
  assert.equal((await start()).status, 401);
  assert.equal((await keys.list()).public.find((each) => each.id === id)?.revoked, true);
  await rejects(keys.revoke(randomUUID()), 404, "NOT_FOUND", "Key not found");
  await rejects(api.clientOf(api.other.privateKey).keys.revoke(id), 404, "NOT_FOUND", "Key not found");
  for (let count = 0; count < 4; count += 1) await keys.create({ name: "more", type: "public" });
  await assert.rejects(keys.create({ name: "sixth", type: "public" }), {
    status: 403,
    code: "QUOTA_EXCEEDED",
  });
});

test("usage of a month, as figures and as a table", async () => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  const [agent] = (await api.client.agents.list()).services;
  const row = { organizationId: api.acme.id, agentId: agent?.id ?? "", period: "2026-01" };
  await api.store.db
    .insertInto("usage")
    .values({ ...row, sessionId: "s1", seconds: 600_061 })
    .execute();
  await api.store.db
    .insertInto("periods")
    .values({ organizationId: api.acme.id, period: "2026-01", closedAt: 1 })
    .execute();
  const found = { organizationId: api.acme.id, period: "2026-01", sessionId: "s0", seconds: 7, foundAt: 0 };
  await api.store.db.insertInto("corrections").values(found).execute();
  assert.deepEqual(await api.client.usage("2026-01"), {
    month: "2026-01",
    closed: true,
    seconds: 600_061,
    minutes: 10_002,
    freeMinutes: 10_000,
    billableMinutes: 2,
    amountMicroDollars: 3_000,
    amountUsd: "0.0030",
    invoiceUsd: "0.00",
    sessions: 1,
    agents: [{ agent: "parrot", seconds: 600_061, sessions: 1 }],
    corrections: [{ sessionId: "s0", seconds: 7, foundAt: "1970-01-01T00:00:00.000Z" }],
  });
  const csv = await api.client.usageCsv("2026-01");
  assert.match(csv, /^kind,period,session,agent/);
  assert.match(csv, /usage,2026-01,s1,parrot/);
  assert.equal((await api.client.usage()).month, new Date().toISOString().slice(0, 7));
  await rejects(api.client.usage("2026-13"), 400, BAD, "Invalid parameters");
  assert.equal((await api.clientOf(api.other.privateKey).usage("2026-01")).seconds, 0);
});

test("who is asking, and for which organisations", async () => {
  await using api = await startApiHarness();
  const token = await api.signIn(api.acme, "owner");
  const person = api.clientOf(token);
  assert.deepEqual((await person.user()).user.emails, [{ emailAddress: "owner@example.com" }]);
  assert.deepEqual(await person.organizations(), {
    organizations: [{ name: "acme", verboseName: "acme", role: "owner" }],
  });
  assert.deepEqual(await api.clientOf(api.other.privateKey).organizations(), {
    organizations: [{ name: "other", verboseName: "other" }],
  });
  assert.match((await api.client.user()).user.userId, /^key:/);
});

test("builds: where to send, sending, building, looking", async () => {
  await using api = await startApiHarness();
  const { builds } = api.client;
  const upload = await builds.createUpload("us-west");
  assert.ok(upload.uploadUrl.startsWith(`${api.origin}/v1/builds/uploads/`));
  await builds.upload({ ...upload, file: new Blob([gzipSync(randomBytes(3_000_000))]) });
  const create = async () => {
    const response = await api.fetch("/v1/builds", {
      method: "POST",
      token: api.acme.privateKey,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uploadId: upload.uploadId }),
    });
    return { status: response.status, ...((await response.json()) as BuildStarted) };
  };
  const first = await create();
  assert.deepEqual([first.status, first.cached, first.build.status], [201, false, "pending"]);
  assert.equal(first.build.dockerfilePath, "Dockerfile");
  assert.equal(first.contextHash.length, 16);
  await api.store.db.updateTable("builds").set({ status: "success" }).execute();
  await mkdir(join(api.dataFolder, "builds", first.build.id), { recursive: true });
  const second = await create();
  assert.deepEqual([second.status, second.cached, second.build.id], [200, true, first.build.id]);
  assert.deepEqual((await builds.get(first.build.id)).build, second.build);
  const lines = ["one", "two"].map((text, index) => ({ buildId: first.build.id, number: index, text }));
  await api.store.db.insertInto("buildLogLines").values(lines).execute();
  const page = await builds.logs(first.build.id, { limit: 1 });
  assert.deepEqual(page, { logs: ["one"], nextToken: "1" });
  assert.deepEqual(await builds.logs(first.build.id, { nextToken: "1" }), { logs: ["two"] });
  const list = await builds.list({ limit: 1, status: "success", contextHash: first.contextHash });
  assert.deepEqual({ ...list, builds: list.builds.length }, { builds: 1, total: 1, limit: 1, offset: 0 });
  const foreign = await insertBuild(api.store, api.other.id);
  await rejects(builds.get(foreign.id), 404, "NOT_FOUND", "Build not found");
  await rejects(builds.logs(foreign.id), 404, "NOT_FOUND", "Build not found");
  await rejects(builds.get("x"), 400, BAD, "Invalid parameters");
  await rejects(builds.list({ limit: 101 }), 400, BAD, "Invalid parameters");
  await rejects(builds.logs(first.build.id, { limit: 10_001 }), 400, BAD, "Invalid parameters");
  await rejects(builds.create({ uploadId: randomUUID() }), 400, BAD, "Upload not found");
  await rejects(builds.createUpload("mars"), 400, BAD, "Builds are not enabled in region 'mars'");
});

test("uploads that are refused", async () => {
  await using api = await startApiHarness();
  const { uploadUrl, uploadFields } = await api.client.builds.createUpload();
  const file = new Blob([gzipSync("x")]);
  const send = async (fields: Record<string, string>, content: Blob | undefined = file, url = uploadUrl) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    if (content.size > 0) body.append("file", content, "a.tgz");
    return (await fetch(url, { method: "POST", body })).status;
  };
  assert.equal(await send({}), 403);
  assert.equal(await send({ ...uploadFields, Policy: "guess" }), 403);
  assert.equal(await send(uploadFields, new Blob([])), 400);
  assert.equal(await send(uploadFields, new Blob(["not packed"])), 400);
  assert.equal(await send(uploadFields, file, `${api.origin}/v1/builds/uploads/nothing`), 404);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, ""]));
  assert.equal(await send(many), 413);
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  assert.equal((await fetch(uploadUrl, json)).status, 415);
  assert.equal(await send(uploadFields), 204);
  assert.equal(await send(uploadFields), 400);
});

test("the same under an organisation's name", async () => {
  await using api = await startApiHarness();
  for (const token of [api.acme.privateKey, await api.signIn(api.acme, "owner")]) {
    const client = api.clientOf(token, "acme");
    const serviceName = `parrot-${token.slice(0, 2)}`;
    await client.agents.create({ serviceName, image: "a/b:c" });
    const changed = await client.agents.update(serviceName, { autoScaling: { maxAgents: 3 } });
    assert.deepEqual(changed.autoScaling, { minReplicas: 0, maxReplicas: 3 });
    assert.deepEqual(await client.agents.get(serviceName), changed);
    const wrapped = await api.fetch(`/v1/organizations/acme/services/${serviceName}`, { token });
    assert.deepEqual(await wrapped.json(), { body: changed });
    assert.ok((await client.agents.list()).services.length > 0);
    assert.equal((await client.agents.deployments(serviceName)).deployments.length, 1);
    assert.deepEqual((await client.sessions.list(serviceName)).sessions, []);
    assert.deepEqual((await client.agents.logs(serviceName)).logs, []);
    assert.equal((await client.regions()).regions.length, 2);
    assert.equal((await client.properties.get()).properties.defaultRegion, "us-west");
    assert.ok((await client.keys.list()).public.length > 0);
    assert.deepEqual(await client.agents.delete(serviceName), { status: "OK" });
    await rejects(api.clientOf(token, "other").agents.list(), 404, "NOT_FOUND", "Organization not found");
    await rejects(api.clientOf(token, "absent").agents.list(), 404, "NOT_FOUND", "Organization not found");
  }
});
