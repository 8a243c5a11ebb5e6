import type { NotNull } from "kysely";
import type { AgentRow, DeploymentRow, InstanceRow, SessionRow } from "@vocalhost/store/schema";
import type { Db } from "@vocalhost/store/store";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import { BOUND_SESSION_STATES, LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";

/** The rows of every agent that is not deleted. */
export interface PoolRows {
  agent: AgentRow;
  deployments: DeploymentRow[];
  instances: InstanceRow[];
  sessions: PoolSession[];
  pending: PendingSessions;
  recentStarts: number;
  organizationLeft: number;
}

/** Leaves out the start body, which may be large, and the caller: deciding needs neither. */
export type PoolSession = Omit<SessionRow, "body" | "caller">;

/** Sessions that wait for their sockets; there may be many, and all they need is an end. */
export interface PendingSessions {
  count: number;
  /** When the oldest was made. */
  oldestAt: number;
}

const NO_PENDING: PendingSessions = { count: 0, oldestAt: 0 };

const POOL_SESSION_COLUMNS = [
  "id",
  "organizationId",
  "agentId",
  "deploymentId",
  "instanceId",
  "state",
  "transport",
  "filter",
  "filterState",
  "filterFramesIn",
  "filterFramesFiltered",
  "filterFigures",
  "coldStart",
  "apiKeyId",
  "epoch",
  "version",
  "createdAt",
  "boundAt",
  "activeAt",
  "startMs",
  "maxDurationMs",
  "deadlineAt",
  "stopRequestedAt",
  "stopReason",
  "endedAt",
  "endReason",
  "elapsedMs",
  "observedMs",
  "lengthCorrectionMs",
  "seconds",
  "timeline",
  "region",
  "regionReason",
  "regionAsked",
  "staysInRegion",
] as const satisfies (keyof PoolSession)[];

/** Instances are read before sessions, so that the session an instance names is always there to be found. */
export async function readPools(
  db: Db,
  { nowMs, demandMs, quotasOf }: { nowMs: number; demandMs: number; quotasOf: QuotasOf },
): Promise<PoolRows[]> {
  const agents = await db.selectFrom("agents").selectAll().where("state", "!=", "deleted").execute();
  const instances = await db
    .selectFrom("instances")
    .selectAll()
    .where("state", "in", LIVE_INSTANCE_STATES)
    .execute();
  const sessions = await readSessions(db);
  const pending = await readPending(db);
  const deployments = await db
    .selectFrom("deployments")
    .selectAll()
    .where("phase", "in", ["Creating", "Validating", "Active", "Draining"])
    .execute();
  const demand = await countStarts(db, { afterMs: nowMs - demandMs, nowMs });
  const organizations = await db.selectFrom("organizations").select(["id", "name"]).execute();
  const left = new Map(organizations.map(({ id, name }) => [id, quotasOf(name).instances]));
  for (const { organizationId: id } of instances) left.set(id, (left.get(id) ?? 0) - 1);
  const of = {
    deployments: byAgent(deployments),
    instances: byAgent(instances),
    sessions: byAgent(sessions),
    pending: byAgent(pending),
    demand: byAgent(demand),
  };
  return agents.map((agent) => ({
    agent,
    deployments: of.deployments(agent),
    instances: of.instances(agent),
    sessions: of.sessions(agent),
    pending: of.pending(agent)[0] ?? NO_PENDING,
    recentStarts: of.demand(agent)[0]?.count ?? 0,
    organizationLeft: left.get(agent.organizationId) ?? 0,
  }));
}

// Sorted once: hundreds of agents that each looked through all rows would take longer than reading them.
function byAgent<Row extends { agentId: string }>(rows: Row[]): (agent: AgentRow) => Row[] {
  const groups = Map.groupBy(rows, ({ agentId }) => agentId);
  return ({ id }) => groups.get(id) ?? [];
}

/** Reads the sessions that hold an instance, and those that an instance still names. */
async function readSessions(db: Db): Promise<PoolSession[]> {
  const named = db
    .selectFrom("instances")
    .select("sessionId")
    .where("state", "in", LIVE_INSTANCE_STATES)
    .$narrowType<{ sessionId: NotNull }>();
  return db
    .selectFrom("sessions")
    .select(POOL_SESSION_COLUMNS)
    .where((is) => is.or([is("state", "in", BOUND_SESSION_STATES), is("id", "in", named)]))
    .execute();
}

async function readPending(db: Db): Promise<(PendingSessions & { agentId: string })[]> {
  return db
    .selectFrom("sessions")
    .select((is) => [
      "agentId",
      is.fn.countAll<number>().as("count"),
      is.fn.min<number>("createdAt").as("oldestAt"),
    ])
    .where("state", "=", "pending")
    .groupBy("agentId")
    .execute();
}

async function countStarts(
  db: Db,
  { afterMs, nowMs }: { afterMs: number; nowMs: number },
): Promise<{ agentId: string; count: number }[]> {
  return db
    .selectFrom("sessions")
    .select(["agentId", (is) => is.fn.countAll<number>().as("count")])
    .where("boundAt", ">", afterMs)
    .where("boundAt", "<=", nowMs)
    .groupBy("agentId")
    .execute();
}
