import { AppError } from "@vocalhost/protocol";
import type { SelectQueryBuilder } from "kysely";
import { prepared } from "../store/prepared.ts";
import type { AgentRow, Schema } from "../store/schema.ts";
import type { Db, Store, Tx } from "../store/store.ts";

/** How many sessions may wait for their sockets at once: each is a row and a start body that cost the caller nothing. */
export interface PendingLimits {
  perKey: number;
  perAgent: number;
}

/** Clients come within a second or two. One key of several must not be able to fill an agent's places alone. */
export const defaultPendingLimits: PendingLimits = { perKey: 200, perAgent: 1_000 };

export interface PendingPlace {
  agent: Pick<AgentRow, "id" | "name">;
  apiKeyId: string | null;
}

/** Who counts locks first, so that what is counted stays counted. In SQLite whoever writes is alone. */
export async function lockPending(
  tx: Tx,
  { store, agent, apiKeyId }: PendingPlace & { store: Store },
): Promise<void> {
  if (store.dialect === "sqlite") return;
  const key = tx
    .selectFrom("apiKeys")
    .select("id")
    .where("id", "=", apiKeyId ?? "");
  await store.forUpdate(key).execute();
  await store.forUpdate(tx.selectFrom("agents").select("id").where("id", "=", agent.id)).execute();
}

/** Asks how many wait. */
export function countPending(db: Db, { agent, apiKeyId }: PendingPlace) {
  return pendingCounts(db, { agentId: agent.id, apiKeyId: apiKeyId ?? "" });
}

const pendingCounts = prepared((db, { agentId, apiKeyId }: { agentId: string; apiKeyId: string }) =>
  db
    .selectFrom("agents")
    .select(({ selectFrom }) => [
      "state",
      pendingOf(selectFrom("sessions"), "apiKeyId", apiKeyId).as("ofKey"),
      pendingOf(selectFrom("sessions"), "agentId", agentId).as("ofAgent"),
    ])
    .where("id", "=", agentId),
);

/** Throws unless one more may wait. */
export function checkPending(
  [row]: readonly { state: AgentRow["state"]; ofKey: number | null; ofAgent: number | null }[],
  { agent, limits }: { agent: PendingPlace["agent"]; limits: PendingLimits },
): void {
  if (row?.state !== "live") throw new AppError("NOT_FOUND", { message: "Service not found" });
  if ((row.ofKey ?? 0) >= limits.perKey)
    throw new AppError("TOO_MANY_PENDING", {
      message: `This key may have ${limits.perKey} sessions that wait for their WebSockets`,
    });
  if ((row.ofAgent ?? 0) >= limits.perAgent)
    throw new AppError("TOO_MANY_PENDING", {
      message: `Agent ${agent.name} may have ${limits.perAgent} sessions that wait for their WebSockets`,
    });
}

/** Ends those whose sockets did not come, or all, in one statement. */
export async function expirePending(
  tx: Tx,
  options: { agentId?: string; createdBefore?: number | undefined; nowMs: number; reason: string },
): Promise<void> {
  const { agentId, createdBefore, nowMs, reason } = options;
  await tx
    .updateTable("sessions")
    .set((row) => ({
      state: "expired",
      version: row("version", "+", 1),
      endedAt: nowMs,
      endReason: reason,
      body: null,
    }))
    .where("state", "=", "pending")
    .$if(createdBefore !== undefined, (query) => query.where("createdAt", "<", createdBefore ?? 0))
    .$if(agentId !== undefined, (query) => query.where("agentId", "=", agentId ?? ""))
    .execute();
}

function pendingOf(
  sessions: SelectQueryBuilder<Schema, "sessions", object>,
  column: "apiKeyId" | "agentId",
  id: string,
) {
  return sessions
    .select((is) => is.fn.countAll<number>().as("count"))
    .where("state", "=", "pending")
    .where(column, "=", id);
}
