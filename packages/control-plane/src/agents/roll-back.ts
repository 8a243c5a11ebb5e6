import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { bindSecrets } from "./deployments/bind-secrets.ts";
import { type DeploymentSpec, parseSpec } from "./deployments/deployment-spec.ts";
import { insertDeployment } from "./deployments/insert-deployment.ts";
import { notFound } from "@vocalhost/base/refusals";
import type { Tx } from "@vocalhost/store/store";
import type { DeployContext } from "./deploy-context.ts";
import { lockAgent } from "./find-agent.ts";
import { setDesired } from "./update-agent.ts";

/** Creates a deployment with an earlier one's source and secrets. */
export async function rollBack(
  context: DeployContext,
  organizationId: OrganizationId,
  {
    name,
    region,
    deploymentId,
    actor,
  }: { name: string; region?: string | undefined; deploymentId: string; actor: string },
): Promise<{ agentId: string; region: string; deploymentId: string }> {
  const { store } = context;
  store.requireDiskSpace();
  context.failpoint("deploy.inserted.before");
  const done = await store.transaction(async (tx) => {
    const agent = await lockAgent({ store, tx }, organizationId, {
      ...{ name, region },
      message: "Service not found",
    });
    if (agent.state !== "live") throw notFound("Service not found");
    const earlier = await tx
      .selectFrom("deployments")
      .select("spec")
      .where("organizationId", "=", organizationId)
      .where("agentId", "=", agent.id)
      .where("id", "=", deploymentId)
      .executeTakeFirst();
    if (!earlier) throw notFound("Deployment not found");
    const { secretVersion, ...settings } = parseSpec(earlier.spec);
    const bound = await bindSecrets(tx, organizationId, { settings, region: agent.region, isNew: false });
    const spec = await withVersion(tx, organizationId, { bound, secretVersion });
    const id = context.newId();
    const nowMs = context.clock.nowMs();
    await insertDeployment({ store, tx }, organizationId, { id, agentId: agent.id, spec, nowMs });
    await setDesired(tx, organizationId, { agent, deploymentId: id, nowMs });
    await writeAudit(tx, {
      organizationId,
      at: nowMs,
      actor,
      action: "agent-rolled-back",
      target: `agent:${agent.id}`,
      details: { name, region: agent.region, deploymentId: id, from: deploymentId },
    });
    return { agentId: agent.id, region: agent.region, deploymentId: id };
  });
  context.failpoint("deploy.inserted.after");
  return done;
}

/** Pins the earlier version of the secrets, or the current one if it is gone. */
async function withVersion(
  tx: Tx,
  organizationId: OrganizationId,
  { bound, secretVersion }: { bound: DeploymentSpec; secretVersion: number | null },
): Promise<DeploymentSpec> {
  if (bound.secretSet === null || secretVersion === null) return bound;
  const kept = await tx
    .selectFrom("secretSets")
    .innerJoin("secretVersions", "secretVersions.setId", "secretSets.id")
    .select("secretVersions.version")
    .where("secretSets.organizationId", "=", organizationId)
    .where("secretSets.name", "=", bound.secretSet)
    .where("secretVersions.version", "=", secretVersion)
    .executeTakeFirst();
  return kept ? { ...bound, secretVersion } : bound;
}
