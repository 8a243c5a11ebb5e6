import type { ExpressionBuilder } from "kysely";
import { liveInstances } from "../pools/claim.ts";
import { prepared } from "@vocalhost/store/prepared";
import { together } from "@vocalhost/store/round-trips";
import type { Schema } from "@vocalhost/store/schema";
import type { Store, Tx } from "@vocalhost/store/store";
import { countBound, type ConcurrencyRequest } from "./concurrency.ts";
import { earlierSessions, type KeyedRequest } from "./idempotency.ts";

type AskedFor = KeyedRequest & ConcurrencyRequest & { agentName: string };

/**
 * All that decides a start, in one question. Of all agents of the name it has the instances too, where nobody can change
 * them while we decide; where others write at the same time, they are for whoever has locked the agent to read.
 */
export function readForStart(tx: Tx, { dialect }: Store, asked: AskedFor) {
  const { organizationId, agentName } = asked;
  return together(tx, {
    earlier: earlierSessions(tx, asked),
    agents: agentsOf(tx, { organizationId, agentName }),
    bound: countBound(tx, asked),
    live: dialect === "sqlite" ? instancesOf(tx, { organizationId, agentName }) : undefined,
  });
}

type AgentName = Pick<AskedFor, "organizationId" | "agentName">;

const agentsOf = prepared((db, { organizationId, agentName }: AgentName) =>
  db
    .selectFrom("agents")
    .leftJoin("deployments", (join) =>
      join.onRef("deployments.agentId", "=", "agents.id").on("deployments.phase", "=", "Active"),
    )
    .selectAll("agents")
    .select(["deployments.id as activeId", "deployments.spec as activeSpec"])
    .where(isLive({ organizationId, agentName })),
);

const instancesOf = prepared((db, { organizationId, agentName }: AgentName) =>
  liveInstances(db)
    .innerJoin("agents", "agents.id", "instances.agentId")
    .where(isLive({ organizationId, agentName })),
);

// `!= 'deleted'` is implied by `= 'live'`, but SQLite uses the partial index on names only if the query says so.
function isLive({ organizationId, agentName }: AgentName) {
  return ({ and, eb }: ExpressionBuilder<Schema, "agents">) =>
    and([
      eb("agents.organizationId", "=", organizationId),
      eb("agents.name", "=", agentName),
      eb("agents.state", "!=", "deleted"),
      eb("agents.state", "=", "live"),
    ]);
}
