import { OPEN_SESSION_STATES } from "../../sessions/session-state.ts";
import type { DeploymentPhase } from "@vocalhost/store/schema";
import type { Db, Store } from "@vocalhost/store/store";
import { deleteInBatches } from "./delete-in-batches.ts";
import { keptAgents } from "./kept-agents.ts";
import { DAY_MS, type Retention } from "./retention.ts";

export interface PruneOptions {
  nowMs: number;
  retention: Retention;
}

export type Pruned = Record<string, number>;

const OVER: DeploymentPhase[] = ["Retired", "Failed", "Superseded"];

/** Deletes rows past their retention. Usage rows stay: bills never change. */
export async function pruneHistory(store: Store, { nowMs, retention }: PruneOptions): Promise<Pruned> {
  const before = (days: number): number => nowMs - days * DAY_MS;
  const sessions = await deleteInBatches(store, "sessions", (db, limit) =>
    endedSessions(db, before(retention.sessionDays)).limit(limit).execute(),
  );
  const instances = await deleteInBatches(store, "instances", (db, limit) =>
    db
      .selectFrom("instances")
      .select("id")
      .where("state", "in", ["stopped", "lost"])
      .where("stateAt", "<", before(retention.debrisDays))
      .limit(limit)
      .execute(),
  );
  const deployments = await pruneDeployments(store, { nowMs, retention });
  const ofDeleted = await deleteInBatches(store, "deployments", (db, limit) =>
    deploymentsOfDeleted(db, before(retention.debrisDays)).limit(limit).execute(),
  );
  const agents = await deleteInBatches(store, "agents", (db, limit) =>
    forgottenAgents(db).limit(limit).execute(),
  );
  const audit = await deleteInBatches(store, "audit", (db, limit) =>
    db.selectFrom("audit").select("id").where("at", "<", before(retention.auditDays)).limit(limit).execute(),
  );
  const outbox = await deleteInBatches(store, "outbox", (db, limit) =>
    db
      .selectFrom("outbox")
      .select("id")
      .where("sentAt", "<", before(retention.debrisDays))
      .limit(limit)
      .execute(),
  );
  // Kept as long as an audit entry or a session may name them.
  const keysBeforeMs = before(Math.max(retention.auditDays, retention.sessionDays));
  const apiKeys = await deleteInBatches(store, "apiKeys", (db, limit) =>
    endedKeys(db, keysBeforeMs).limit(limit).execute(),
  );
  return {
    sessions: sessions.length,
    instances: instances.length,
    deployments: deployments + ofDeleted.length,
    agents: agents.length,
    audit: audit.length,
    outbox: outbox.length,
    apiKeys: apiKeys.length,
  };
}

function endedSessions(db: Db, beforeMs: number) {
  return db
    .selectFrom("sessions")
    .select("id")
    .where("state", "not in", [...OPEN_SESSION_STATES])
    .where("createdAt", "<", beforeMs)
    .where((is) => is.or([is("endedAt", "is", null), is("endedAt", "<", beforeMs)]));
}

function endedKeys(db: Db, beforeMs: number) {
  return db
    .selectFrom("apiKeys")
    .select("id")
    .where((is) =>
      is.or([
        is("revokedAt", "<", beforeMs),
        is.and([is("revokedAt", "is", null), is("expiresAt", "<", beforeMs)]),
      ]),
    );
}

async function pruneDeployments(store: Store, { nowMs, retention }: PruneOptions): Promise<number> {
  const agents = await store.db
    .selectFrom("deployments")
    .select("agentId")
    .groupBy("agentId")
    .having((is) => is.fn.countAll(), ">", retention.deploymentsPerAgent)
    .execute();
  let deleted = 0;
  for (const { agentId } of agents) {
    const kept = await store.db
      .selectFrom("deployments")
      .select("id")
      .where("agentId", "=", agentId)
      .orderBy("createdAt", "desc")
      .limit(retention.deploymentsPerAgent)
      .execute();
    const ids = kept.map(({ id }) => id);
    const old = await deleteInBatches(store, "deployments", (db, limit) =>
      db
        .selectFrom("deployments")
        .select("id")
        .where("agentId", "=", agentId)
        .where("phase", "in", OVER)
        .where("updatedAt", "<", nowMs - retention.debrisDays * DAY_MS)
        .where("id", "not in", ids)
        .where("id", "not in", (from) =>
          from
            .selectFrom("agents")
            .select("reconciledDeploymentId")
            .where("id", "=", agentId)
            .where("reconciledDeploymentId", "is not", null)
            .$castTo<{ reconciledDeploymentId: string }>(),
        )
        .limit(limit)
        .execute(),
    );
    deleted += old.length;
  }
  return deleted;
}

/**
 * Selects deployments of deleted agents, also of agents whose rows were deleted earlier. Their sessions keep only the
 * id.
 */
function deploymentsOfDeleted(db: Db, beforeMs: number) {
  return (
    db
      .selectFrom("deployments")
      .select("id")
      .where("updatedAt", "<", beforeMs)
      .where("agentId", "not in", keptAgents(db, beforeMs))
      // `distinct`, here and below, lets Postgres keep the few ids in memory instead of scanning all rows for each of
      // ours.
      .where("id", "not in", (from) => from.selectFrom("instances").select("deploymentId").distinct())
  );
}

/** Selects deleted agents that only bills still name, which need just the id. */
function forgottenAgents(db: Db) {
  return db
    .selectFrom("agents")
    .select("id")
    .where("state", "=", "deleted")
    .where("id", "not in", (from) => from.selectFrom("sessions").select("agentId").distinct())
    .where("id", "not in", (from) => from.selectFrom("usage").select("agentId").distinct())
    .where("id", "not in", (from) => from.selectFrom("instances").select("agentId").distinct())
    .where("id", "not in", (from) => from.selectFrom("deployments").select("agentId").distinct());
}
