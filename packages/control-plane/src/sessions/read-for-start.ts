import { liveInstances } from "../pools/claim.ts";
import type { AgentRow, DeploymentRow } from "../store/schema.ts";
import { together } from "../store/round-trips.ts";
import type { Db, Store, Tx } from "../store/store.ts";
import { countBound, type ConcurrencyRequest } from "./concurrency.ts";
import { earlierSessions, type KeyedRequest } from "./idempotency.ts";

type AskedFor = KeyedRequest & ConcurrencyRequest & { agentName: string };

/** An agent that takes sessions, with what it runs. */
export type StartAgent = AgentRow & { activeId: DeploymentRow["id"] | null; activeSpec: string | null };

/**
 * All that decides a start, in one question. Of all agents of the name it has the instances too, where nobody can change
 * them while we decide; where others write at the same time, they are for whoever has locked the agent to read.
 */
export function readForStart(tx: Tx, { dialect }: Store, asked: AskedFor) {
  return together(tx, {
    earlier: earlierSessions(tx, asked),
    agents: agentsOf(tx, asked),
    bound: countBound(tx, asked),
    live: dialect === "sqlite" ? instancesOf(tx, asked) : undefined,
  });
}

function agentsOf(db: Db, { organizationId, agentName }: AskedFor) {
  return db
    .selectFrom("agents")
    .leftJoin("deployments", (join) =>
      join.onRef("deployments.agentId", "=", "agents.id").on("deployments.phase", "=", "Active"),
    )
    .selectAll("agents")
    .select(["deployments.id as activeId", "deployments.spec as activeSpec"])
    .where("agents.organizationId", "=", organizationId)
    .where("agents.name", "=", agentName)
    .where("agents.state", "=", "live");
}

function instancesOf(db: Db, { organizationId, agentName }: AskedFor) {
  return liveInstances(db)
    .innerJoin("agents", "agents.id", "instances.agentId")
    .where("agents.organizationId", "=", organizationId)
    .where("agents.name", "=", agentName)
    .where("agents.state", "=", "live");
}
