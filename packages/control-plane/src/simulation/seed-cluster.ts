import type { OrganizationId } from "../identity/principal.ts";
import { newDeployment } from "../agents/deployments/new-deployment.ts";
import { newInstanceRow } from "../pools/claim.ts";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";
import { anySpec } from "./any-spec.ts";
import type { ClusterAgent } from "./cluster-agents.ts";
import type { Host } from "./host.ts";
import type { Random } from "./random.ts";

/** A cluster as a leader that has just died left it: every instance made, and on its way up. */
export async function seedCluster(options: {
  store: Store;
  host: Host;
  random: Random;
  nowMs: number;
  agents: readonly ClusterAgent[];
  organizations: readonly { id: OrganizationId; name: string }[];
  quotasOf: QuotasOf;
}): Promise<void> {
  const { store, host, random, nowMs, agents, organizations, quotasOf } = options;
  const left = new Map(organizations.map(({ id, name }) => [id, quotasOf(name).instances]));
  await store.transaction(async (tx) => {
    for (const organization of organizations)
      await tx
        .insertInto("organizations")
        .values({ ...organization, verboseName: organization.name, properties: "{}", createdAt: nowMs })
        .execute();
    for (const agent of agents) {
      const deploymentId = random.id();
      await tx
        .insertInto("agents")
        .values({
          ...agent,
          state: "live",
          desiredDeploymentId: deploymentId,
          reconciledDeploymentId: deploymentId,
          version: 1,
          createdAt: nowMs,
          updatedAt: nowMs,
          deletedAt: null,
        })
        .execute();
      await tx
        .insertInto("deployments")
        .values(
          newDeployment({
            id: deploymentId,
            organizationId: agent.organizationId,
            agentId: agent.id,
            phase: "Active",
            spec: anySpec(random),
            nowMs,
          }),
        )
        .execute();
      for (let count = 0; count < agent.maxAgents; count++) {
        const places = left.get(agent.organizationId) ?? 0;
        if (places === 0) break;
        left.set(agent.organizationId, places - 1);
        const row = newInstanceRow({
          ...{ agent, deploymentId, nowMs },
          ...{ sessionId: null, mediaPort: null, newId: random.id, epoch: 0 },
        });
        host.create(row.id, 0);
        await tx
          .insertInto("instances")
          .values({ ...row, state: "starting" })
          .execute();
      }
    }
  });
}
