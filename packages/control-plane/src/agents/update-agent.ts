import type { UpdateAgent } from "@vocalhost/protocol";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { bindSecrets } from "./deployments/bind-secrets.ts";
import { type DeploymentSpec, parseSpec } from "./deployments/deployment-spec.ts";
import { insertDeployment } from "./deployments/insert-deployment.ts";
import { readSource, requireFilterBase } from "./deployments/read-source.ts";
import { requireKeptInstances } from "../identity/quotas/require-quota.ts";
import { badField, notFound } from "@vocalhost/base/refusals";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import type { DeployContext } from "./deploy-context.ts";
import { lockAgent } from "./find-agent.ts";
import { isSameSettings, mergeScaling, mergeSettings, requireOneSource, type Settings } from "./settings.ts";

export interface AgentUpdated {
  agentId: string;
  region: string;
  /** Undefined if no deployment was needed. */
  deploymentId: string | undefined;
  warning: string | undefined;
}

const NOTHING_CHANGED =
  "The configuration is the same as the one deployed, so no new deployment was made. Send forceRedeploy to make one.";

/**
 * Applies the given changes. Creates a deployment only if more than the scaling differs, or if the caller asks for
 * one.
 */
export async function updateAgent(
  context: DeployContext,
  organizationId: OrganizationId,
  { name, input, actor }: { name: string; input: UpdateAgent; actor: string },
): Promise<AgentUpdated> {
  context.store.requireDiskSpace();
  requireOneSource(input);
  context.failpoint("deploy.inserted.before");
  const updated = await context.store.transaction(async (tx) => {
    const inside = { ...context, tx };
    const agent = await lockAgent(inside, organizationId, {
      name,
      region: input.region ?? undefined,
      message: "Service not found",
    });
    if (agent.state !== "live") throw notFound("Service not found");
    requireSameName(agent, input);
    return change(inside, organizationId, { agent, input, actor });
  });
  context.failpoint("deploy.inserted.after");
  return updated;
}

async function change(
  context: DeployContext & { tx: Tx },
  organizationId: OrganizationId,
  { agent, input, actor }: { agent: AgentRow; input: UpdateAgent; actor: string },
): Promise<AgentUpdated> {
  const { tx } = context;
  const { region } = agent;
  const scaling = mergeScaling(agent, input);
  const isScaled = scaling.minAgents !== agent.minAgents || scaling.maxAgents !== agent.maxAgents;
  const current = await readSpec(tx, organizationId, agent.desiredDeploymentId);
  const source = await readSource(tx, organizationId, { input, region, registries: context.registries });
  // The same reference may resolve to another image now.
  const settings: Settings = { ...mergeSettings(current, input), ...source, pinned: null };
  const isRedeployed = input.forceRedeploy === true || !isSameSettings(current, settings);
  if (!isRedeployed && !isScaled)
    return { agentId: agent.id, region, deploymentId: undefined, warning: NOTHING_CHANGED };

  const nowMs = context.clock.nowMs();
  const deploymentId = isRedeployed ? context.newId() : undefined;
  if (deploymentId !== undefined) {
    const spec = await bindSecrets(tx, organizationId, { settings, region, isNew: false });
    await requireFilterBase(tx, organizationId, settings);
    await insertDeployment(context, organizationId, { id: deploymentId, agentId: agent.id, spec, nowMs });
  }
  await setDesired(tx, organizationId, { agent, deploymentId, scaling, nowMs });
  if (scaling.minAgents > agent.minAgents) await requireKeptInstances(context, organizationId);
  await writeAudit(tx, {
    organizationId,
    at: nowMs,
    actor,
    action: isRedeployed ? "agent-deployed" : "agent-scaled",
    target: `agent:${agent.id}`,
    details: { name: agent.name, region, ...(deploymentId ? { deploymentId } : {}), ...scaling },
  });
  return { agentId: agent.id, region, deploymentId, warning: undefined };
}

/** Sets the desired state of the agent. */
export async function setDesired(
  tx: Tx,
  organizationId: OrganizationId,
  options: {
    agent: Pick<AgentRow, "id" | "version" | "desiredDeploymentId">;
    deploymentId: string | undefined;
    scaling?: { minAgents: number; maxAgents: number };
    nowMs: number;
  },
): Promise<void> {
  const { agent, deploymentId, scaling, nowMs } = options;
  await tx
    .updateTable("agents")
    .set({
      ...(scaling ? { minAgents: scaling.minAgents, maxAgents: scaling.maxAgents } : {}),
      desiredDeploymentId: deploymentId ?? agent.desiredDeploymentId,
      version: agent.version + 1,
      updatedAt: nowMs,
    })
    .where("organizationId", "=", organizationId)
    .where("id", "=", agent.id)
    .execute();
}

async function readSpec(tx: Tx, organizationId: OrganizationId, id: string): Promise<DeploymentSpec> {
  const { spec } = await tx
    .selectFrom("deployments")
    .select("spec")
    .where("organizationId", "=", organizationId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return parseSpec(spec);
}

function requireSameName(agent: AgentRow, { serviceName }: UpdateAgent): void {
  if (typeof serviceName === "string" && serviceName !== agent.name)
    throw badField("serviceName", "An agent's name cannot be changed");
}
