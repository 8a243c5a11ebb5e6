import { AppError } from "@vocalhost/protocol";
import { isIPv6 } from "node:net";
import type { Principal } from "../identity/principal.ts";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";
import type { PendingLimits } from "./session-settings.ts";
import { moveSession } from "./session-state.ts";

export interface PendingPlace {
  agent: Pick<AgentRow, "id" | "name">;
  apiKeyId: string | null;
  /** See `callerOf`. */
  caller: string | null;
}

export interface PendingCheck extends PendingPlace {
  limits: PendingLimits;
  timing: Pick<Timing, "socketTokenMs" | "reconcileMs">;
  nowMs: number;
}

/** Throws unless one more session may wait. The place stays free until the transaction ends. */
export async function requirePendingPlace(
  { store, tx }: { store: Store; tx: Tx },
  { agent, apiKeyId, caller, limits, timing, nowMs }: PendingCheck,
): Promise<void> {
  await lockPending({ store, tx }, { agent, apiKeyId });
  const counts = await countPending(tx, {
    agentId: agent.id,
    apiKeyId: apiKeyId ?? "",
    caller: caller ?? "",
  });
  if (counts.state !== "live") throw new AppError("NOT_FOUND", { message: "Service not found" });
  // The oldest gives its place back by then, see `planPending`.
  const tooMany = (message: string, since: number | null): AppError =>
    new AppError("TOO_MANY_PENDING", {
      message,
      retryAfterMs: (since ?? nowMs) + timing.socketTokenMs + timing.reconcileMs - nowMs,
    });
  const leftOfKey = limits.perKey - counts.ofKey;
  if (leftOfKey <= 0)
    throw tooMany(
      `This key may have ${limits.perKey} sessions that wait for their WebSockets`,
      counts.keySince,
    );
  if (counts.ofCaller >= leftOfKey)
    throw tooMany(
      "Of the sessions of this key that wait for their WebSockets, too many are of your network address",
      counts.callerSince,
    );
  if (counts.ofAgent >= limits.perAgent)
    throw tooMany(
      `Agent ${agent.name} may have ${limits.perAgent} sessions that wait for their WebSockets`,
      counts.agentSince,
    );
}

/** Makes counts stay true until the transaction ends. On SQLite the transaction writes alone anyway. */
async function lockPending(
  { store, tx }: { store: Store; tx: Tx },
  { agent, apiKeyId }: Pick<PendingPlace, "agent" | "apiKeyId">,
): Promise<void> {
  if (store.dialect === "sqlite") return;
  const key = tx
    .selectFrom("apiKeys")
    .select("id")
    .where("id", "=", apiKeyId ?? "");
  await store.forUpdate(key).execute();
  await store.forUpdate(tx.selectFrom("agents").select("id").where("id", "=", agent.id)).execute();
}

async function countPending(
  db: Db,
  { agentId, apiKeyId, caller }: Record<"agentId" | "apiKeyId" | "caller", string>,
) {
  return db
    .selectFrom("sessions")
    .select((is) => {
      const ofKey = is("apiKeyId", "=", apiKeyId);
      const ofCaller = is.and([ofKey, is("caller", "=", caller)]);
      const ofAgent = is("agentId", "=", agentId);
      const { countAll, min } = is.fn;
      return [
        is.selectFrom("agents").select("agents.state").where("agents.id", "=", agentId).as("state"),
        countAll<number>().filterWhere(ofKey).as("ofKey"),
        countAll<number>().filterWhere(ofCaller).as("ofCaller"),
        countAll<number>().filterWhere(ofAgent).as("ofAgent"),
        min<number | null>("createdAt").filterWhere(ofKey).as("keySince"),
        min<number | null>("createdAt").filterWhere(ofCaller).as("callerSince"),
        min<number | null>("createdAt").filterWhere(ofAgent).as("agentSince"),
      ];
    })
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
}

/**
 * The network that callers with a public key are counted by; a household has a /64 of IPv6. Null for callers with a
 * credential of their own.
 */
export function callerOf(principal: Principal, address: string): string | null {
  if (principal.kind !== "key" || principal.keyKind !== "public") return null;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const ending = tail?.split(":").filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - ending.length) }, () => "0");
  const network = [...groups, ...zeros, ...ending].slice(0, 4);
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

/** Ends one that no client will come for any more; false if it was not pending. */
export function expireSession(
  tx: Tx,
  session: Pick<SessionRow, "id" | "state" | "version">,
  { reason, nowMs }: { reason: string; nowMs: number },
): Promise<boolean> {
  const changes = { endedAt: nowMs, endReason: reason, body: null, caller: null };
  return moveSession(tx, session, { to: "expired", changes });
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
      caller: null,
    }))
    .where("state", "=", "pending")
    .$if(createdBefore !== undefined, (query) => query.where("createdAt", "<", createdBefore ?? 0))
    .$if(agentId !== undefined, (query) => query.where("agentId", "=", agentId ?? ""))
    .execute();
}
