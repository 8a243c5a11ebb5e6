import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import type { DeployContext } from "./deploy-context.ts";
import { lockAgent } from "./find-agent.ts";

/** Refuses starts from now on; running sessions go on. Returns the agent's id. */
export async function deleteAgent(
  { store, clock }: Pick<DeployContext, "store" | "clock">,
  organizationId: OrganizationId,
  { name, region, actor }: { name: string; region?: string | undefined; actor: string },
): Promise<string> {
  return store.transaction(async (tx) => {
    const agent = await lockAgent({ store, tx }, organizationId, { name, region });
    if (agent.state !== "live") return agent.id; // a repeated request
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
