import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { insertBuild } from "../api/testing/rows.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { createOrganization } from "../organizations/organizations.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../system-clock.ts";
import { eachStore } from "../testing/each-store.ts";
import { createAgent } from "./create-agent.ts";
import { deleteAgent } from "./delete-agent.ts";
import type { DeployContext } from "./deploy-context.ts";
import { listDeployments, rollBack } from "./deployments.ts";
import { listAgents, readAgent } from "./read-agents.ts";
import { resolveSource } from "./resolve-source.ts";
import { updateAgent } from "./update-agent.ts";

const actor = "system";

async function prepare(store: Store): Promise<{ context: DeployContext; organizationId: OrganizationId }> {
  const context: DeployContext = {
    store,
    clock: systemClock,
    newId: () => randomUUID(),
    failpoint: () => undefined,
    regions: ["us-west"],
    registries: [],
  };
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor, nowMs: 1 }),
  );
  return { context, organizationId };
}

eachStore((open) => {
  test("an agent lives through all its changes", async () => {
    await using store = await open();
    const { context, organizationId } = await prepare(store);
    const wish = { serviceName: "parrot", image: "a/b:1" };
    await createAgent(context, organizationId, { wish, actor });
    const first = await readAgent(store, organizationId, "parrot");
    const name = "parrot";
    const update = (changes: object) => updateAgent(context, organizationId, { name, wish: changes, actor });
    assert.ok((await update({ image: "a/b:1" })).warning);
    assert.equal((await update({ autoScaling: { maxAgents: 2 } })).deploymentId, undefined);
    const second = (await update({ image: "a/b:2" })).deploymentId;
    const deploymentId = first.desiredDeploymentId;
    const third = (await rollBack(context, organizationId, { name, deploymentId, actor })).deploymentId;
    const { deployments } = await listDeployments(store, organizationId, name);
    assert.deepEqual(
      deployments.map(({ id, phase }) => `${id} ${phase}`),
      [`${third} Creating`, `${second} Superseded`, `${deploymentId} Superseded`],
    );
    const options = { includeActiveDeployment: true };
    const [listed] = (await listAgents(store, organizationId, options)).services;
    assert.equal(listed?.deployment?.id, third);
    await deleteAgent(context, organizationId, { name, actor });
    await assert.rejects(update({}), { code: "NOT_FOUND" });
  });

  test("changes at once are done one after the other", async () => {
    await using store = await open();
    const { context, organizationId } = await prepare(store);
    const wish = { serviceName: "parrot", image: "a/b:0" };
    const name = "parrot";
    const created = await Promise.allSettled(
      Array.from({ length: 4 }, () => createAgent(context, organizationId, { wish, actor })),
    );
    assert.equal(created.filter(({ status }) => status === "fulfilled").length, 1);
    for (const result of created)
      if (result.status === "rejected")
        assert.equal((result.reason as Error).message, "Service already exists");
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        updateAgent(context, organizationId, { name, wish: { image: `a/b:${index + 1}` }, actor }),
      ),
    );
    const { deployments } = await listDeployments(store, organizationId, name);
    const { desiredDeploymentId } = await readAgent(store, organizationId, name);
    assert.equal(deployments.length, 7);
    assert.deepEqual(
      deployments.map(({ phase }) => phase),
      ["Creating", ...Array.from({ length: 6 }, () => "Superseded")],
    );
    assert.equal(deployments[0]?.id, desiredDeploymentId);
    const { version } = await store.db.selectFrom("agents").select("version").executeTakeFirstOrThrow();
    assert.equal(version, 7);
  });

  test("what runs is a build, by its id or by its image", async () => {
    await using store = await open();
    const { organizationId } = await prepare(store);
    const build = await insertBuild(store, organizationId);
    const image = build.imageUri ?? "";
    const ok = { ok: true, buildId: build.id };
    assert.deepEqual(await resolveSource(store, organizationId, { image, buildId: build.id }), ok);
    assert.deepEqual(await resolveSource(store, organizationId, { image, buildId: null }), ok);
    const foreign = randomUUID() as OrganizationId;
    for (const [scope, spec] of [
      [foreign, { image, buildId: build.id }],
      [organizationId, { image: "acme/bot:1", buildId: null }],
      [organizationId, { image, buildId: randomUUID() }],
    ] as const) {
      const resolved = await resolveSource(store, scope, spec);
      assert.equal(resolved.ok ? "" : resolved.code, "IMAGE_NOT_FOUND");
    }
    await store.db.updateTable("builds").set({ status: "failed" }).execute();
    assert.equal((await resolveSource(store, organizationId, { image, buildId: build.id })).ok, false);
  });
});
