import type { AgentRow, DeploymentRow, InstanceRow, SessionRow } from "../store/schema.ts";
import type { Db } from "../store/store.ts";
import { OPEN_SESSION_STATES } from "../sessions/session-state.ts";
import { LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";

/** The rows of every agent that is not deleted. */
export interface PoolRows {
  agent: AgentRow;
  deployments: DeploymentRow[];
  instances: InstanceRow[];
  sessions: SessionRow[];
  recentStarts: number;
}

/** Instances are read before sessions, so that the session an instance names is always there to be found. */
export async function readPools(
  db: Db,
  { nowMs, demandMs }: { nowMs: number; demandMs: number },
): Promise<PoolRows[]> {
  const agents = await db.selectFrom("agents").selectAll().where("state", "!=", "deleted").execute();
  const instances = await db
    .selectFrom("instances")
    .selectAll()
    .where("state", "in", LIVE_INSTANCE_STATES)
    .execute();
  const named = instances.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]));
  const sessions = await db
    .selectFrom("sessions")
    .selectAll()
    .where((is) =>
      is.or([is("state", "in", OPEN_SESSION_STATES), ...(named.length > 0 ? [is("id", "in", named)] : [])]),
    )
    .execute();
  const deployments = await db
    .selectFrom("deployments")
    .selectAll()
    .where("phase", "in", ["Creating", "Validating", "Active", "Draining"])
    .execute();
  const demand = await db
    .selectFrom("sessions")
    .select(["agentId", (is) => is.fn.countAll<number>().as("count")])
    .where("boundAt", ">", nowMs - demandMs)
    .where("boundAt", "<=", nowMs)
    .groupBy("agentId")
    .execute();
  const of = <Row extends { agentId: string }>(rows: Row[], agent: AgentRow): Row[] =>
    rows.filter(({ agentId }) => agentId === agent.id);
  return agents.map((agent) => ({
    agent,
    deployments: of(deployments, agent),
    instances: of(instances, agent),
    sessions: of(sessions, agent),
    recentStarts: of(demand, agent)[0]?.count ?? 0,
  }));
}
