import type { CreateAgent } from "@vocalhost/protocol";
import { writeAudit } from "../auth/audit.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { isUniqueViolation } from "../store/store-errors.ts";
import type { Tx } from "../store/store.ts";
import { bindSecrets } from "./bind-secrets.ts";
import { badField, badRequest, requireRoom, type DeployContext } from "./deploy-context.ts";
import { insertDeployment } from "./insert-deployment.ts";
import { readSource, requireFilterBase } from "./resolve-source.ts";
import {
  defaultScaling,
  defaultSettings,
  mergeScaling,
  mergeSettings,
  requireOneSource,
} from "./settings.ts";

/** Makes an agent and its first deployment; gives the agent's id. */
export async function createAgent(
  context: DeployContext,
  organizationId: OrganizationId,
  { wish, actor }: { wish: CreateAgent; actor: string },
): Promise<string> {
  requireRoom(context.store);
  requireOneSource(wish);
  const scaling = mergeScaling(defaultScaling, wish);
  context.failpoint("deploy.inserted.before");
  const agentId = await context.store
    .transaction((tx) => insertAgent({ ...context, tx }, organizationId, { wish, scaling, actor }))
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? alreadyThere() : error;
    });
  context.failpoint("deploy.inserted.after");
  return agentId;
}

async function insertAgent(
  context: DeployContext & { tx: Tx },
  organizationId: OrganizationId,
  { wish, scaling, actor }: { wish: CreateAgent; scaling: typeof defaultScaling; actor: string },
): Promise<string> {
  const { tx } = context;
  const region = await chooseRegion(context, organizationId, wish.region ?? undefined);
  await requireFreeName(tx, organizationId, wish.serviceName);
  const source = await readSource(tx, organizationId, { wish, region, registries: context.registries });
  if (!source) throw badRequest("Either image or buildId is required for service creation");
  const settings = { ...mergeSettings(defaultSettings, wish), ...source };
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
      name: wish.serviceName,
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
  await insertDeployment(context, organizationId, { id: deploymentId, agentId, spec, nowMs });
  await writeAudit(tx, {
    organizationId,
    at: nowMs,
    actor,
    action: "agent-created",
    target: `agent:${agentId}`,
    details: { name: wish.serviceName, region, deploymentId, ...scaling },
  });
  return agentId;
}

async function chooseRegion(
  { tx, regions }: DeployContext & { tx: Tx },
  organizationId: OrganizationId,
  wish: string | undefined,
): Promise<string> {
  if (wish !== undefined) {
    if (regions.includes(wish)) return wish;
    throw badField("region", `Region '${wish}' is not available. Available regions: ${regions.join(", ")}`);
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

async function requireFreeName(tx: Tx, organizationId: OrganizationId, name: string): Promise<void> {
  const taken = await tx
    .selectFrom("agents")
    .select("id")
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .where("state", "<>", "deleted")
    .executeTakeFirst();
  if (taken) throw alreadyThere();
}

function alreadyThere(): Error {
  return badRequest("Service already exists");
}
