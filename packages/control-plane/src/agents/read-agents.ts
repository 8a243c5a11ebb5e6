import type { AgentList, AgentRecord } from "@vocalhost/protocol";
import type { OrganizationId } from "../auth/principal.ts";
import { toDeployment } from "../deployments/manifest.ts";
import { BOUND_SESSION_STATES, LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";
import type { AgentRow } from "../store/schema.ts";
import type { Db, Store } from "../store/store.ts";
import { toTime } from "../to-time.ts";
import { toAgentRecord, type InstanceCount } from "./agent-record.ts";
import { findAgent, ownFirst, type AgentAddress } from "./find-agent.ts";
import { readOrganizationName } from "../store/organization-name.ts";

export async function readAgent(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  address: Pick<AgentAddress, "name" | "region">,
): Promise<AgentRecord> {
  return recordOf(db, organizationId, await findAgent(db, organizationId, address));
}

async function recordOf(db: Db, organizationId: OrganizationId, agent: AgentRow): Promise<AgentRecord> {
  const [organizationName, deployments, activeSessionCount, regions] = await Promise.all([
    readOrganizationName(db, organizationId),
    db
      .selectFrom("deployments")
      .selectAll()
      .where("organizationId", "=", organizationId)
      .where("agentId", "=", agent.id)
      .where((where) =>
        where.or([where("id", "=", agent.desiredDeploymentId), where("phase", "in", ["Active", "Draining"])]),
      )
      .execute(),
    countSessions(db, organizationId, agent.id),
    regionsOf(db, organizationId, agent.name),
  ]);
  const instances = await countInstances(
    db,
    organizationId,
    deployments.map(({ id }) => id),
  );
  return {
    ...toAgentRecord({ agent, organizationName, deployments, instances, activeSessionCount }),
    regions,
  };
}

/** Where there are agents of this name, their own region first. */
async function regionsOf(db: Db, organizationId: OrganizationId, name: string): Promise<string[]> {
  const rows = await db
    .selectFrom("agents")
    .select(["id", "region", "state", "createdAt"])
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .where("state", "<>", "deleted")
    .execute();
  return ownFirst(rows).map(({ region }) => region);
}

export async function listAgents(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  options: { region?: string; includeActiveDeployment: boolean; includeRecord?: boolean },
): Promise<AgentList> {
  let query = db
    .selectFrom("agents")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("state", "<>", "deleted");
  if (options.region !== undefined) query = query.where("region", "=", options.region);
  const agents = await query.orderBy("createdAt").orderBy("id").execute();
  const deployments = options.includeActiveDeployment
    ? await readDeployments(db, organizationId, agents)
    : undefined;
  const records = new Map<string, AgentRecord>();
  if (options.includeRecord)
    for (const agent of agents) records.set(agent.id, await recordOf(db, organizationId, agent));
  return {
    services: agents.map((agent) => {
      const deployment = deployments?.get(agent.desiredDeploymentId);
      const record = records.get(agent.id);
      return {
        id: agent.id,
        name: agent.name,
        region: agent.region,
        desiredDeploymentId: agent.desiredDeploymentId,
        activeDeploymentId: agent.desiredDeploymentId,
        reconciledDeploymentId: agent.reconciledDeploymentId,
        organizationId,
        createdAt: toTime(agent.createdAt),
        updatedAt: toTime(agent.updatedAt),
        deletedAt: agent.deletedAt === null ? null : toTime(agent.deletedAt),
        ...(deployment ? { deployment } : {}),
        ...(record ? { record } : {}),
      };
    }),
  };
}

async function readDeployments(db: Db, organizationId: OrganizationId, agents: AgentRow[]) {
  if (agents.length === 0) return new Map<string, ReturnType<typeof toDeployment>>();
  const organizationName = await readOrganizationName(db, organizationId);
  const rows = await db
    .selectFrom("deployments")
    .innerJoin("agents", "agents.desiredDeploymentId", "deployments.id")
    .selectAll("deployments")
    .where("deployments.organizationId", "=", organizationId)
    .where("agents.state", "<>", "deleted")
    .execute();
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  return new Map(
    rows.flatMap((deployment) => {
      const agent = byId.get(deployment.agentId);
      return agent ? [[deployment.id, toDeployment({ agent, organizationName, deployment })] as const] : [];
    }),
  );
}

async function countSessions(db: Db, organizationId: OrganizationId, agentId: string): Promise<number> {
  const { count } = await db
    .selectFrom("sessions")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .where("agentId", "=", agentId)
    .where("state", "in", [...BOUND_SESSION_STATES])
    .executeTakeFirstOrThrow();
  return count;
}

async function countInstances(
  db: Db,
  organizationId: OrganizationId,
  deploymentIds: string[],
): Promise<InstanceCount[]> {
  if (deploymentIds.length === 0) return [];
  return db
    .selectFrom("instances")
    .select(["deploymentId", "state"])
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .where("deploymentId", "in", deploymentIds)
    .where("state", "in", LIVE_INSTANCE_STATES)
    .groupBy(["deploymentId", "state"])
    .execute();
}
