import type { CreateAgent } from "@vocalhost/protocol";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { bindSecrets } from "./deployments/bind-secrets.ts";
import { insertDeployment } from "./deployments/insert-deployment.ts";
import { readSource, requireFilterBase } from "./deployments/read-source.ts";
import { requireAgentQuota, requireKeptInstances } from "../identity/quotas/require-quota.ts";
import { badField, badRequest } from "@vocalhost/base/refusals";
import { isUniqueViolation } from "@vocalhost/store/store-errors";
import type { Tx } from "@vocalhost/store/store";
import type { DeployContext } from "./deploy-context.ts";
import {
  defaultScaling,
  defaultSettings,
  mergeScaling,
  mergeSettings,
  requireOneSource,
} from "./settings.ts";

/** Creates an agent and its first deployment; returns the agent's id and region. */
export async function createAgent(
  context: DeployContext,
  organizationId: OrganizationId,
  { input, actor }: { input: CreateAgent; actor: string },
): Promise<{ agentId: string; region: string }> {
  context.store.requireDiskSpace();
  requireOneSource(input);
  const scaling = mergeScaling(defaultScaling, input);
  context.failpoint("deploy.inserted.before");
  const created = await context.store
    .transaction((tx) => insertAgent({ ...context, tx }, organizationId, { input, scaling, actor }))
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? alreadyThere() : error;
    });
  context.failpoint("deploy.inserted.after");
  return created;
}

async function insertAgent(
  context: DeployContext & { tx: Tx },
  organizationId: OrganizationId,
  { input, scaling, actor }: { input: CreateAgent; scaling: typeof defaultScaling; actor: string },
): Promise<{ agentId: string; region: string }> {
  const { tx } = context;
  await requireAgentQuota(context, organizationId);
  const region = await chooseRegion(context, organizationId, input.region ?? undefined);
  await requireFreeName(tx, organizationId, { name: input.serviceName, region: input.region ?? undefined });
  const source = await readSource(tx, organizationId, { input, region, registries: context.registries });
  if (!source) throw badRequest("Either image or buildId is required for service creation");
  const settings = { ...mergeSettings(defaultSettings, input), ...source, pinned: null };
  const spec = await bindSecrets(tx, organizationId, { settings, region, isNew: true });
  await requireFilterBase(tx, organizationId, settings);

  const agentId = context.newId();
  const deploymentId = context.newId();
  const nowMs = context.clock.nowMs();
  await tx
    .insertInto("agents")
    .values({
      id: agentId,
      organizationId,
      name: input.serviceName,
      region,
      state: "live",
      ...scaling,
      desiredDeploymentId: deploymentId,
      reconciledDeploymentId: null,
      version: 1,
      createdAt: nowMs,
      updatedAt: nowMs,
      deletedAt: null,
    })
    .execute();
  await requireKeptInstances(context, organizationId);
  await insertDeployment(context, organizationId, { id: deploymentId, agentId, spec, nowMs });
  await writeAudit(tx, {
    organizationId,
    at: nowMs,
    actor,
    action: "agent-created",
    target: `agent:${agentId}`,
    details: { name: input.serviceName, region, deploymentId, ...scaling },
  });
  return { agentId, region };
}

async function chooseRegion(
  { tx, regions }: DeployContext & { tx: Tx },
  organizationId: OrganizationId,
  input: string | undefined,
): Promise<string> {
  if (input !== undefined) {
    if (regions.includes(input)) return input;
    throw badField("region", `Region '${input}' is not available. Available regions: ${regions.join(", ")}`);
  }
  const organization = await tx
    .selectFrom("organizations")
    .select("properties")
    .where("id", "=", organizationId)
    .executeTakeFirstOrThrow();
  const { defaultRegion } = JSON.parse(organization.properties) as { defaultRegion?: string };
  const chosen = regions.find((region) => region === defaultRegion) ?? regions[0];
  if (chosen === undefined) throw new Error("No region is configured");
  return chosen;
}

/** Only a request that names a region may create a second agent of a name. */
async function requireFreeName(
  tx: Tx,
  organizationId: OrganizationId,
  { name, region }: { name: string; region: string | undefined },
): Promise<void> {
  const taken = await tx
    .selectFrom("agents")
    .select("id")
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .where("state", "<>", "deleted")
    .$if(region !== undefined, (agents) => agents.where("region", "=", region ?? ""))
    .executeTakeFirst();
  if (taken) throw alreadyThere();
}

function alreadyThere(): Error {
  return badRequest("Service already exists");
}
