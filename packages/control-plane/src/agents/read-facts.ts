import type { OrganizationId } from "../identity/principal.ts";
import { BOUND_SESSION_STATES, LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Db } from "@vocalhost/store/store";
import type { AgentFacts } from "./agent-record.ts";
import { ownFirst } from "./find-agent.ts";

/** Selects an organisation's agents of one name, or all. */
interface Asked {
  organizationId: OrganizationId;
  name?: string;
}

export interface FactsOfAgents {
  agents: AgentRow[];
  factsOf(agent: AgentRow): AgentFacts;
  /** Returns the regions with an agent of this name, the first deployed one first. */
  regionsOf(name: string): string[];
}

/** Reads the data of all agents' records with a few queries. Deleted agents are left out. */
export async function readFacts(db: Db, asked: Asked): Promise<FactsOfAgents> {
  const agents = await agentsOf(db, asked).execute();
  const organization = await db
    .selectFrom("organizations")
    .select("name")
    .where("id", "=", asked.organizationId)
    .executeTakeFirst();
  const deployments = await deploymentsOf(db, asked).execute();
  const instances = await instancesOf(db, asked).execute();
  const sessions = await sessionsOf(db, asked).execute();
  const deploymentsBy = Map.groupBy(deployments, ({ agentId }) => agentId);
  const sessionsBy = new Map(sessions.map(({ agentId, count }) => [agentId, count]));
  const byName = Map.groupBy(agents, ({ name }) => name);
  return {
    agents,
    factsOf: (agent) => ({
      agent,
      organizationName: organization?.name ?? "",
      deployments: deploymentsBy.get(agent.id) ?? [],
      instances,
      activeSessionCount: sessionsBy.get(agent.id) ?? 0,
    }),
    regionsOf: (name) => ownFirst(byName.get(name) ?? []).map(({ region }) => region),
  };
}

function agentsOf(db: Db, asked: Asked) {
  return ofAgents(db, asked).selectAll().orderBy("createdAt").orderBy("id");
}

/** Selects the desired deployment, and all that are Active or Draining. */
function deploymentsOf(db: Db, asked: Asked) {
  return ofAgents(db, asked)
    .innerJoin("deployments", "deployments.agentId", "agents.id")
    .selectAll("deployments")
    .where((where) =>
      where.or([
        where("deployments.id", "=", where.ref("agents.desiredDeploymentId")),
        where("deployments.phase", "in", ["Active", "Draining"]),
      ]),
    );
}

function instancesOf(db: Db, asked: Asked) {
  return ofAgents(db, asked)
    .innerJoin("instances", "instances.agentId", "agents.id")
    .select(["instances.deploymentId", "instances.state"])
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("instances.state", "in", LIVE_INSTANCE_STATES)
    .groupBy(["instances.deploymentId", "instances.state"]);
}

/** Counts per agent: grouped, SQLite would read every session the organisation ever had. */
function sessionsOf(db: Db, asked: Asked) {
  return ofAgents(db, asked)
    .select("agents.id as agentId")
    .select((select) =>
      select
        .selectFrom("sessions")
        .select((each) => each.fn.countAll<number>().as("count"))
        .where("sessions.organizationId", "=", asked.organizationId)
        .where("sessions.state", "in", BOUND_SESSION_STATES)
        .whereRef("sessions.agentId", "=", "agents.id")
        .as("count"),
    );
}

function ofAgents(db: Db, { organizationId, name }: Asked) {
  return db
    .selectFrom("agents")
    .where("agents.organizationId", "=", organizationId)
    .where("agents.state", "<>", "deleted")
    .$if(name !== undefined, (agents) => agents.where("agents.name", "=", name ?? ""));
}
