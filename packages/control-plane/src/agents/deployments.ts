import type { DeploymentList, DeploymentSettings } from "@vocalhost/protocol";
import { writeAudit } from "../auth/audit.ts";
import type { OrganizationId } from "../auth/principal.ts";
import type { Store, Tx } from "../store/store.ts";
import { bindSecrets } from "./bind-secrets.ts";
import { notFound, requireRoom, type DeployContext } from "./deploy-context.ts";
import { DeploymentSpec } from "./deployment-spec.ts";
import { findAgent, lockAgent } from "./find-agent.ts";
import { insertDeployment } from "./insert-deployment.ts";
import { toManifest, toTime } from "./manifest.ts";
import { readOrganizationName } from "./read-agents.ts";
import { setDesired } from "./update-agent.ts";

const DEPLOYMENTS_MAX = 200; // newest; older ones stay in the store

/** Newest first. */
export async function listDeployments(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  name: string,
): Promise<DeploymentList> {
  const agent = await findAgent(db, organizationId, { name });
  const organizationName = await readOrganizationName(db, organizationId);
  const rows = await db
    .selectFrom("deployments")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("agentId", "=", agent.id)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(DEPLOYMENTS_MAX)
    .execute();
  return {
    deployments: rows.map((row) => {
      const spec = DeploymentSpec.parse(JSON.parse(row.spec));
      return {
        id: row.id,
        manifest: toManifest({ agent, organizationName, spec }),
        createdAt: toTime(row.createdAt),
        updatedAt: toTime(row.updatedAt),
        phase: row.phase,
        settings: toDeploymentSettings(spec),
        failure:
          row.failureCode === null
            ? null
            : { code: row.failureCode, message: row.failureText ?? row.failureCode },
      };
    }),
  };
}

function toDeploymentSettings(spec: DeploymentSpec): DeploymentSettings {
  const { nodeType: _nodeType, maxSessionDurationS, ...settings } = spec;
  return { ...settings, maxSessionDuration: maxSessionDurationS };
}

/** A new deployment of what an earlier one ran, with the secrets it had. */
export async function rollBack(
  context: DeployContext,
  organizationId: OrganizationId,
  { name, deploymentId, actor }: { name: string; deploymentId: string; actor: string },
): Promise<{ agentId: string; deploymentId: string }> {
  const { store } = context;
  requireRoom(store);
  context.failpoint("deploy.inserted.before");
  const done = await store.transaction(async (tx) => {
    const agent = await lockAgent({ store, tx }, organizationId, { name, message: "Service not found" });
    if (agent.state !== "live") throw notFound("Service not found");
    const earlier = await tx
      .selectFrom("deployments")
      .select("spec")
      .where("organizationId", "=", organizationId)
      .where("agentId", "=", agent.id)
      .where("id", "=", deploymentId)
      .executeTakeFirst();
    if (!earlier) throw notFound("Deployment not found");
    const { secretVersion, ...settings } = DeploymentSpec.parse(JSON.parse(earlier.spec));
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
      details: { name, deploymentId: id, from: deploymentId },
    });
    return { agentId: agent.id, deploymentId: id };
  });
  context.failpoint("deploy.inserted.after");
  return done;
}

/** The values it had, unless they are gone; then those of today. */
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
