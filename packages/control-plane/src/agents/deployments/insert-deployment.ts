import type { OrganizationId } from "../../identity/principal.ts";
import type { Store, Tx } from "@vocalhost/store/store";
import { moveDeployment } from "./deployment-phase.ts";
import type { DeploymentSpec } from "./deployment-spec.ts";
import { newDeployment } from "./new-deployment.ts";

/** Adds a deployment in `Creating` and supersedes earlier ones that are not Active yet. */
export async function insertDeployment(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
  { id, agentId, spec, nowMs }: { id: string; agentId: string; spec: DeploymentSpec; nowMs: number },
): Promise<void> {
  const unfinished = await store
    .forUpdate(
      tx
        .selectFrom("deployments")
        .select(["id", "phase", "version"])
        .where("organizationId", "=", organizationId)
        .where("agentId", "=", agentId)
        .where("phase", "in", ["Creating", "Validating"]),
    )
    .execute();
  for (const row of unfinished) await moveDeployment(tx, row, { to: "Superseded", nowMs });
  const createdAt = await afterTheLast(tx, organizationId, { agentId, nowMs });
  await tx
    .insertInto("deployments")
    .values({ ...newDeployment({ id, organizationId, agentId, phase: "Creating", spec, nowMs }), createdAt })
    .execute();
}

/**
 * Returns a later time than the newest deployment's: deployments are ordered by age, even within one millisecond or
 * after a clock change.
 */
async function afterTheLast(
  tx: Tx,
  organizationId: OrganizationId,
  { agentId, nowMs }: { agentId: string; nowMs: number },
): Promise<number> {
  const last = await tx
    .selectFrom("deployments")
    .select("createdAt")
    .where("organizationId", "=", organizationId)
    .where("agentId", "=", agentId)
    .orderBy("createdAt", "desc")
    .limit(1)
    .executeTakeFirst();
  return Math.max(nowMs, (last?.createdAt ?? 0) + 1);
}
