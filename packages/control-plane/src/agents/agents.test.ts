import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { OrganizationId } from "../identity/principal.ts";
import { listDeployments } from "./deployments/list-deployments.ts";
import { createOrganization } from "../identity/organizations/organizations.ts";
import { createQuotas, defaultQuotas } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { createAgent } from "./create-agent.ts";
import { deleteAgent } from "./delete-agent.ts";
import type { DeployContext } from "./deploy-context.ts";
import { findAgent } from "./find-agent.ts";
import { listAgents, readAgent } from "./read-agents.ts";
import { rollBack } from "./roll-back.ts";
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
    quotasOf: createQuotas(defaultQuotas),
  };
  const organizationId = await store.transaction((tx) =>
    createOrganization(tx, { name: "acme" }, { actor, nowMs: 1 }),
  );
  return { context, organizationId };
}

async function deploymentsOf(store: Store, organizationId: OrganizationId, name: string) {
  const agent = await findAgent(store.db, organizationId, { name });
  return listDeployments(store, organizationId, { agent, organizationName: "acme" });
}

eachStore((open) => {
  test("an agent lives through all its changes", async () => {
    await using store = await open();
    const { context, organizationId } = await prepare(store);
    const input = { serviceName: "parrot", image: "a/b:1" };
    await createAgent(context, organizationId, { input, actor });
    const first = await readAgent(store, organizationId, { name: "parrot" });
    const name = "parrot";
    const update = (changes: object) => updateAgent(context, organizationId, { name, input: changes, actor });
    assert.ok((await update({ image: "a/b:1" })).warning);
    assert.equal((await update({ autoScaling: { maxAgents: 2 } })).deploymentId, undefined);
    const second = (await update({ image: "a/b:2" })).deploymentId;
    const deploymentId = first.desiredDeploymentId;
    const third = (await rollBack(context, organizationId, { name, deploymentId, actor })).deploymentId;
    const { deployments } = await deploymentsOf(store, organizationId, name);
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
    const input = { serviceName: "parrot", image: "a/b:0" };
    const name = "parrot";
    const created = await Promise.allSettled(
      Array.from({ length: 4 }, () => createAgent(context, organizationId, { input, actor })),
    );
    assert.equal(created.filter(({ status }) => status === "fulfilled").length, 1);
    for (const result of created)
      if (result.status === "rejected")
        assert.equal((result.reason as Error).message, "Service already exists");
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        updateAgent(context, organizationId, { name, input: { image: `a/b:${index + 1}` }, actor }),
      ),
    );
    const { deployments } = await deploymentsOf(store, organizationId, name);
    const { desiredDeploymentId } = await readAgent(store, organizationId, { name });
    assert.equal(deployments.length, 7);
    assert.deepEqual(
      deployments.map(({ phase }) => phase),
      ["Creating", ...Array.from({ length: 6 }, () => "Superseded")],
    );
    assert.equal(deployments[0]?.id, desiredDeploymentId);
    const { version } = await store.db.selectFrom("agents").select("version").executeTakeFirstOrThrow();
    assert.equal(version, 7);
  });
});
