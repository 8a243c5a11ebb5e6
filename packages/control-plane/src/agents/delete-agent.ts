import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import type { DeployContext } from "./deploy-context.ts";
import { lockAgent } from "./find-agent.ts";

/** Starts are refused from now on; sessions that run go on. Gives the agent's id. */
export async function deleteAgent(
  { store, clock }: Pick<DeployContext, "store" | "clock">,
  organizationId: OrganizationId,
  { name, region, actor }: { name: string; region?: string | undefined; actor: string },
): Promise<string> {
  return store.transaction(async (tx) => {
    const agent = await lockAgent({ store, tx }, organizationId, { name, region });
    if (agent.state !== "live") return agent.id; // asked again
    const nowMs = clock.nowMs();
    await tx
      .updateTable("agents")
      .set({ state: "deleting", deletedAt: nowMs, updatedAt: nowMs, version: agent.version + 1 })
      .where("organizationId", "=", organizationId)
      .where("id", "=", agent.id)
      .execute();
    await writeAudit(tx, {
      organizationId,
      at: nowMs,
      actor,
      action: "agent-deleted",
      target: `agent:${agent.id}`,
      details: { name, region: agent.region },
    });
    return agent.id;
  });
}
