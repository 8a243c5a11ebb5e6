import type { AgentRecord, ApiError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { checkRefusal, rejects, type Refusal } from "./testing/check-refusal.ts";
import { startApiHarness } from "./testing/api-harness.ts";
import { insertBuild, insertSecretSet } from "./testing/rows.ts";

const image = "vocalhost/base:0.2.0";

test("an agent is created with what was left out at its default", async () => {
  await using api = await startApiHarness();
  const created = await api.client.agents.create({ serviceName: "parrot", image });
  assert.deepEqual(
    { ...created, createdAt: "", updatedAt: "", deployment: null, currentRevision: null },
    {
      name: "parrot",
      region: "us-west",
      regions: ["us-west"],
      ready: false,
      available: false,
      createdAt: "",
      updatedAt: "",
      desiredDeploymentId: created.desiredDeploymentId,
      activeDeploymentId: created.desiredDeploymentId,
      reconciledDeploymentId: null,
      activeDeploymentReady: false,
      autoScaling: { minReplicas: 0, maxReplicas: 50 },
      activeSessionCount: 0,
      agentProfile: "agent-1x",
      vendorViva: { audioFilter: null },
      krispViva: { audioFilter: null },
      deployment: null,
      currentRevision: null,
      previousRevision: null,
      errors: [],
      conditions: [
        { type: "Available", status: "False" },
        { type: "Progressing", status: "True", reason: "Creating" },
        { type: "Degraded", status: "False" },
      ],
    },
  );
  assert.deepEqual(created.deployment?.manifest, {
    apiVersion: "vocalhost/v1",
    kind: "Agent",
    metadata: { name: "parrot", namespace: "acme" },
    spec: {
      nodeType: "arm",
      dailyNodeType: "arm",
      image,
      autoScaling: { minReplicas: 0, maxReplicas: 50 },
      resources: { cpu: "500m", memory: "1Gi" },
    },
  });
  assert.equal(created.currentRevision?.phase, "Creating");
  assert.equal(created.currentRevision.deploymentID, created.desiredDeploymentId);
  assert.equal(api.nudged.length, 1);
  assert.deepEqual(await api.client.agents.get("parrot"), created);
});

test("everything that can be said is kept", async () => {
  await using api = await startApiHarness();
  await insertSecretSet(api.store, api.acme.id, { name: "keys", region: "eu-central", currentVersion: 7 });
  await insertSecretSet(api.store, api.acme.id, {
    name: "pull",
    region: "eu-central",
    kind: "imagePullSecret",
  });
  const build = await insertBuild(api.store, api.acme.id, { region: "eu-central" });
  const created = await api.client.agents.create({
    serviceName: "full",
    buildId: build.id,
    region: "eu-central",
    nodeType: "arm",
    secretSet: "keys",
    imagePullSecretSet: "pull",
    autoScaling: { minAgents: 2, maxAgents: 4 },
    vendorViva: { audioFilter: "tel" },
    agentProfile: "agent-2x",
    maxSessionDuration: 60,
    websocketAuth: "none",
  });
  assert.deepEqual(created.deployment?.manifest.spec, {
    nodeType: "arm",
    dailyNodeType: "arm",
    image: "",
    buildId: build.id,
    autoScaling: { minReplicas: 2, maxReplicas: 4 },
    imagePullSecretName: "pull",
    envFromSecretNames: ["keys"],
    resources: { cpu: "1000m", memory: "2Gi" },
    vendorViva: { audioFilters: true },
    maxSessionDurationSeconds: 60,
  });
  assert.equal(created.deployment?.buildId, build.id);
  assert.deepEqual(created.vendorViva, { audioFilter: "tel" });
  const { spec } = await api.store.db.selectFrom("deployments").select("spec").executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(spec), {
    image: build.imageUri,
    buildId: build.id,
    nodeType: "arm",
    pinned: null,
    imagePullSecretSet: "pull",
    secretSet: "keys",
    secretVersion: 7,
    agentProfile: "agent-2x",
    audioFilter: "tel",
    maxSessionDurationS: 60,
    websocketAuth: "none",
  });
});

test("creations that are refused", async (t) => {
  await using api = await startApiHarness();
  const { db } = api.store;
  await api.client.agents.create({ serviceName: "taken", image });
  await insertSecretSet(api.store, api.acme.id, { name: "far", region: "eu-central" });
  await insertSecretSet(api.store, api.acme.id, {
    name: "far-pull",
    region: "eu-central",
    kind: "imagePullSecret",
  });
  await insertSecretSet(api.store, api.acme.id, { name: "slow", status: "pending" });
  await insertSecretSet(api.store, api.other.id, { name: "foreign" });
  const build = await insertBuild(api.store, api.acme.id);
  const far = await insertBuild(api.store, api.acme.id, { region: "eu-central" });
  const unready = await insertBuild(api.store, api.acme.id, { status: "building", imageUri: null });
  const foreign = await insertBuild(api.store, api.other.id);
  const facts = (baseVersion: string, filterPackages: string[] = []) =>
    JSON.stringify({ botFile: "bot.ts", baseVersion, filterPackages });
  const old = await insertBuild(api.store, api.acme.id, { facts: facts("0.1.7") });
  const twice = await insertBuild(api.store, api.acme.id, { facts: facts("0.2.0", ["some-filter"]) });
  const tel = { vendorViva: { audioFilter: "tel" } };
  const invalid = "Invalid parameters";
  const cases: Refusal[] = [
    { body: { serviceName: "taken", image }, error: "Service already exists" },
    { body: {}, error: "Either image or buildId is required for service creation" },
    {
      body: { image, buildId: build.id },
      error: "Cannot specify both image and buildId. Use one or the other.",
    },
    { body: { buildId: randomUUID() }, error: "Build not found" },
    { body: { buildId: foreign.id }, error: "Build not found" },
    {
      body: { buildId: far.id },
      error:
        "Build is in region 'eu-central' but service is in region 'us-west'. Builds must be in the same region as the service.",
    },
    {
      body: { buildId: unready.id },
      error: "Build is not ready (status: building). Only successful builds can be deployed.",
    },
    {
      body: { image, secretSet: "far" },
      error:
        "Secret set 'far' is in region 'eu-central' but service will be created in region 'us-west'. Secrets must be in the same region as the service.",
    },
    {
      body: { image, imagePullSecretSet: "far-pull" },
      error:
        "Image pull secret set 'far-pull' is in region 'eu-central' but service will be created in region 'us-west'. Image pull secrets must be in the same region as the service.",
    },
    { body: { image, secretSet: "absent" }, status: 404, error: "Secret set not found", code: "NOT_FOUND" },
    { body: { image, secretSet: "foreign" }, status: 404, error: "Secret set not found", code: "NOT_FOUND" },
    { body: { image, secretSet: "far-pull" }, status: 404, error: "Secret set not found", code: "NOT_FOUND" },
    {
      body: { image, secretSet: "slow" },
      status: 409,
      error: "Secret set 'slow' is not yet ready. Retry once it has been provisioned.",
      code: "CONFLICT",
    },
    { body: { image, serviceName: "start-bot" }, error: invalid, field: "serviceName" },
    { body: { image, serviceName: "a" }, error: invalid, field: "serviceName" },
    { body: { image, serviceName: "a".repeat(55) }, error: invalid, field: "serviceName" },
    { body: { image, serviceName: "Upper" }, error: invalid, field: "serviceName" },
    { body: { image, serviceName: "-ab" }, error: invalid, field: "serviceName" },
    { body: { image, serviceName: null }, error: invalid, field: "serviceName" },
    { body: { image: "no-tag/here" }, error: invalid, field: "image" },
    { body: { image: "noslash:tag" }, error: invalid, field: "image" },
    { body: { image: "127.0.0.1:5000/a/b:c" }, error: invalid, field: "image" },
    { body: { image: "registry.internal/a/b:c" }, error: invalid, field: "image" },
    { body: { buildId: "not-a-uuid" }, error: invalid, field: "buildId" },
    { body: { image, region: "mars" }, error: invalid, field: "region" },
    { body: { image, nodeType: "x86" }, error: invalid, field: "nodeType" },
    { body: { image, agentProfile: "agent-9x" }, error: invalid, field: "agentProfile" },
    { body: { image, vendorViva: { audioFilter: "hifi" } }, error: invalid, field: "vendorViva.audioFilter" },
    {
      body: { image, autoScaling: { minAgents: 3, maxAgents: 2 } },
      error: invalid,
      field: "autoScaling.minAgents",
    },
    { body: { image, autoScaling: { minAgents: -1 } }, error: invalid, field: "autoScaling.minAgents" },
    { body: { image, autoScaling: { maxAgents: 51 } }, error: invalid, field: "autoScaling.maxAgents" },
    { body: { image, autoScaling: { maxAgents: 0 } }, error: invalid, field: "autoScaling.maxAgents" },
    { body: { image, autoScaling: { minAgents: 1.5 } }, error: invalid, field: "autoScaling.minAgents" },
    { body: { image, maxSessionDuration: 59 }, error: invalid, field: "maxSessionDuration" },
    { body: { image, maxSessionDuration: 14_401 }, error: invalid, field: "maxSessionDuration" },
    { body: { image, websocketAuth: "maybe" }, error: invalid, field: "websocketAuth" },
    { body: { image: "vocalhost/base:0.1.7", ...tel }, error: invalid, field: "vendorViva.audioFilter" },
    { body: { buildId: old.id, ...tel }, error: invalid, field: "vendorViva.audioFilter" },
    { body: { buildId: twice.id, ...tel }, error: invalid, field: "vendorViva.audioFilter" },
  ];
  for (const { body, ...expected } of cases)
    await t.test(JSON.stringify(body).slice(0, 100), async () => {
      const response = await api.fetch("/v1/agents", {
        method: "POST",
        token: api.acme.privateKey,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ serviceName: "parrot", ...body }),
      });
      await checkRefusal(response, expected);
    });
  const { count } = await db
    .selectFrom("agents")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  assert.equal(count, 1);
});

test("bounds that are allowed", async () => {
  await using api = await startApiHarness();
  const bodies = [
    { serviceName: "ab", image },
    { serviceName: "a".repeat(54), image: "ghcr.io/acme/bot:v1.2_3-x" },
    { serviceName: "d1", image: `registry.example.com:5000/a/b/c:t@sha256:${"0".repeat(64)}` },
    { serviceName: "d2", image, maxSessionDuration: 60, autoScaling: { minAgents: 50, maxAgents: 50 } },
    { serviceName: "d3", image, maxSessionDuration: 14_400, autoScaling: { minAgents: 0, maxAgents: 1 } },
    { serviceName: "restart", image: "vocalhost/base:0.1.8", vendorViva: { audioFilter: "pro" as const } },
    {
      serviceName: "nulls",
      image,
      buildId: null,
      region: null,
      nodeType: null,
      secretSet: null,
      imagePullSecretSet: null,
      autoScaling: null,
      vendorViva: null,
      agentProfile: null,
      maxSessionDuration: null,
      websocketAuth: null,
      forceRedeploy: null,
    },
  ];
  for (const body of bodies) assert.equal((await api.client.agents.create(body)).name, body.serviceName);
});

test("updates change what they name, and deploy only when that is needed", async (t) => {
  await using api = await startApiHarness();
  const build = await insertBuild(api.store, api.acme.id);
  await insertSecretSet(api.store, api.acme.id, { name: "keys" });
  let before = await api.client.agents.create({ serviceName: "parrot", image });
  const cases: {
    body: Record<string, unknown>;
    deploys: boolean;
    warns?: boolean;
    check?: (now: AgentRecord) => void;
  }[] = [
    { body: {}, deploys: false, warns: true },
    { body: { image }, deploys: false, warns: true },
    { body: { serviceName: "parrot", region: "us-west", image }, deploys: false, warns: true },
    { body: { vendorViva: {} }, deploys: false, warns: true },
    { body: { vendorViva: null, secretSet: null, maxSessionDuration: null }, deploys: false, warns: true },
    {
      body: { autoScaling: { minAgents: 1 } },
      deploys: false,
      check: (now) => assert.deepEqual(now.autoScaling, { minReplicas: 1, maxReplicas: 50 }),
    },
    { body: { autoScaling: { minAgents: 1 } }, deploys: false, warns: true },
    { body: { forceRedeploy: true }, deploys: true },
    { body: { vendorViva: { audioFilter: "tel" } }, deploys: true },
    {
      body: { vendorViva: {} },
      deploys: false,
      warns: true,
      check: (now) => assert.deepEqual(now.vendorViva, { audioFilter: "tel" }),
    },
    { body: { vendorViva: { audioFilter: "pro" } }, deploys: true },
    {
      body: { vendorViva: { audioFilter: null } },
      deploys: true,
      check: (now) => assert.deepEqual(now.vendorViva, { audioFilter: null }),
    },
    { body: { maxSessionDuration: 600 }, deploys: true },
    { body: { agentProfile: "agent-3x" }, deploys: true },
    { body: { secretSet: "keys" }, deploys: true },
    {
      body: { secretSet: "" },
      deploys: true,
      check: (now) => assert.equal(now.deployment?.manifest.spec.envFromSecretNames, undefined),
    },
    { body: { image: "vocalhost/base:0.2.1" }, deploys: true },
    { body: { buildId: build.id }, deploys: true },
    { body: { buildId: build.id }, deploys: false, warns: true },
    { body: { image }, deploys: true },
    { body: { websocketAuth: "none", autoScaling: { maxAgents: 3 } }, deploys: true },
  ];
  for (const { body, deploys, warns = false, check } of cases)
    await t.test(JSON.stringify(body), async () => {
      const now = await api.client.agents.update("parrot", body);
      assert.equal(now.desiredDeploymentId !== before.desiredDeploymentId, deploys);
      assert.equal(now.warning !== undefined, warns);
      check?.(now);
      before = now;
    });
  const phases = await api.store.db.selectFrom("deployments").select(["id", "phase"]).execute();
  for (const { id, phase } of phases)
    assert.equal(phase, id === before.desiredDeploymentId ? "Creating" : "Superseded");
});

test("updates that are refused", async (t) => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image });
  await api.clientOf(api.other.privateKey).agents.create({ serviceName: "foreign", image });
  await insertSecretSet(api.store, api.acme.id, { name: "far", region: "eu-central" });
  await insertSecretSet(api.store, api.acme.id, { name: "slow", status: "pending" });
  await insertSecretSet(api.store, api.acme.id, {
    name: "far-pull",
    region: "eu-central",
    kind: "imagePullSecret",
  });
  const far = await insertBuild(api.store, api.acme.id, { region: "eu-central" });
  const failed = await insertBuild(api.store, api.acme.id, { status: "failed", imageUri: null });
  const cases: (Refusal & { name?: string })[] = [
    { name: "absent", body: {}, status: 404, error: "Service not found", code: "NOT_FOUND" },
    { name: "foreign", body: {}, status: 404, error: "Service not found", code: "NOT_FOUND" },
    {
      body: { image, buildId: far.id },
      error: "Cannot specify both image and buildId. Use one or the other.",
    },
    { body: { buildId: randomUUID() }, error: "Build not found" },
    {
      body: { buildId: far.id },
      error:
        "Build is in region 'eu-central' but service is in region 'us-west'. Builds must be in the same region as the service.",
    },
    {
      body: { buildId: failed.id },
      error: "Build is not ready (status: failed). Only successful builds can be deployed.",
    },
    {
      body: { secretSet: "far" },
      error:
        "Secret set 'far' is in region 'eu-central' but service is in region 'us-west'. Secrets must be in the same region as the service.",
    },
    {
      body: { imagePullSecretSet: "far-pull" },
      error:
        "Image pull secret set 'far-pull' is in region 'eu-central' but service is in region 'us-west'. Image pull secrets must be in the same region as the service.",
    },
    {
      body: { secretSet: "slow" },
      status: 409,
      error: "Secret set 'slow' is not yet ready. Retry once it has been provisioned.",
      code: "CONFLICT",
    },
    { body: { region: "eu-central" }, error: "Invalid parameters", field: "region" },
    { body: { serviceName: "other" }, error: "Invalid parameters", field: "serviceName" },
    { body: { autoScaling: { minAgents: 51 } }, error: "Invalid parameters", field: "autoScaling.minAgents" },
    { body: { maxSessionDuration: "60" }, error: "Invalid parameters", field: "maxSessionDuration" },
  ];
  for (const { body, name = "parrot", ...expected } of cases)
    await t.test(`${name} ${JSON.stringify(body)}`, async () => {
      const response = await api.fetch(`/v1/agents/${name}`, {
        method: "POST",
        token: api.acme.privateKey,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      await checkRefusal(response, expected);
    });
  assert.equal((await api.client.agents.deployments("parrot")).deployments.length, 1);
});

test("lists show the organisation's own agents", async () => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "one", image });
  await api.client.agents.create({ serviceName: "two", image, region: "eu-central" });
  await api.clientOf(api.other.privateKey).agents.create({ serviceName: "one", image });
  const names = async (query = {}) => (await api.client.agents.list(query)).services.map(({ name }) => name);
  assert.deepEqual((await names()).sort(), ["one", "two"]);
  assert.deepEqual(await names({ region: "eu-central" }), ["two"]);
  assert.deepEqual(await names({ region: "mars" }), []);
  const [plain] = (await api.client.agents.list()).services;
  const [full] = (await api.client.agents.list({ includeActiveDeployment: true })).services;
  assert.equal(plain?.deployment, undefined);
  assert.equal(full?.deployment?.id, full?.desiredDeploymentId);
  assert.equal(full?.organizationId, api.acme.id);
  assert.equal(full.deletedAt, null);
});

test("a deletion is asked for once and twice, and refuses changes", async () => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image });
  assert.deepEqual(await api.client.agents.delete("parrot"), { status: "OK" });
  assert.deepEqual(await api.client.agents.delete("parrot"), { status: "OK" });
  const record = await api.client.agents.get("parrot");
  assert.equal(record.available, false);
  assert.deepEqual(record.conditions?.[0], { type: "Available", status: "False", reason: "Deleting" });
  await rejects(api.client.agents.update("parrot", {}), 404, "NOT_FOUND", "Service not found");
  await rejects(
    api.client.agents.create({ serviceName: "parrot", image }),
    400,
    "GENERIC_BAD_REQUEST",
    "Service already exists",
  );
  await api.store.db.updateTable("agents").set({ state: "deleted" }).execute();
  await rejects(api.client.agents.get("parrot"), 404, "NOT_FOUND", "Not found");
  await rejects(api.client.agents.delete("parrot"), 404, "NOT_FOUND", "Not found");
  assert.deepEqual((await api.client.agents.list()).services, []);
  assert.equal((await api.client.agents.create({ serviceName: "parrot", image })).name, "parrot");
});

test("an earlier deployment comes back as a new one, with the secrets it had", async () => {
  await using api = await startApiHarness();
  const { db } = api.store;
  const { id: setId } = await insertSecretSet(api.store, api.acme.id, { name: "keys", currentVersion: 3 });
  const version = { setId, version: 3, wrappedKey: "", masterKeyId: "", createdAt: 0 };
  await db.insertInto("secretVersions").values(version).execute();
  const first = await api.client.agents.create({ serviceName: "parrot", image, secretSet: "keys" });
  await db.updateTable("secretSets").set({ currentVersion: 4 }).execute();
  await api.client.agents.update("parrot", { image: "vocalhost/base:0.2.1" });
  const back = await api.client.agents.rollback("parrot", first.desiredDeploymentId);
  assert.equal(back.deployment?.manifest.spec.image, image);
  const { deployments } = await api.client.agents.deployments("parrot");
  assert.deepEqual(
    deployments.map(({ phase }) => phase),
    ["Creating", "Superseded", "Superseded"],
  );
  assert.equal(deployments[0]?.id, back.desiredDeploymentId);
  const rows = await db.selectFrom("deployments").select(["id", "spec"]).execute();
  const versions = new Map(
    rows.map(({ id, spec }) => [id, (JSON.parse(spec) as { secretVersion: number }).secretVersion]),
  );
  assert.equal(versions.get(back.desiredDeploymentId), 3);
  await db.deleteFrom("secretVersions").execute();
  const again = await api.client.agents.rollback("parrot", first.desiredDeploymentId);
  const { spec } = await db
    .selectFrom("deployments")
    .select("spec")
    .where("id", "=", again.desiredDeploymentId)
    .executeTakeFirstOrThrow();
  assert.equal((JSON.parse(spec) as { secretVersion: number }).secretVersion, 4);
  await rejects(api.client.agents.rollback("parrot", randomUUID()), 404, "NOT_FOUND", "Deployment not found");
  await rejects(
    api.client.agents.rollback("absent", first.desiredDeploymentId),
    404,
    "NOT_FOUND",
    "Service not found",
  );
  await rejects(api.client.agents.rollback("parrot", "x"), 400, "GENERIC_BAD_REQUEST", "Invalid parameters");
});

test("creations at once under one name: one comes through", async () => {
  await using api = await startApiHarness();
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, () => api.client.agents.create({ serviceName: "parrot", image })),
  );
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
  for (const one of all)
    if (one.status === "rejected") assert.equal((one.reason as ApiError).message, "Service already exists");
});

test("every change leaves its trace, made by whoever asked", async () => {
  await using api = await startApiHarness();
  const person = api.clientOf(await api.signIn(api.acme, "admin"));
  await person.agents.create({ serviceName: "parrot", image });
  await api.client.agents.update("parrot", { autoScaling: { maxAgents: 2 } });
  await api.client.agents.update("parrot", { forceRedeploy: true });
  await api.client.agents.delete("parrot");
  const { entries, total } = await api.client.audit({ limit: 4 });
  assert.deepEqual(
    entries.map(({ action, actor }) => `${action} ${actor.split(":")[0]}`),
    ["agent-deleted key", "agent-deployed key", "agent-scaled key", "agent-created user"],
  );
  assert.ok(total > 4);
});
