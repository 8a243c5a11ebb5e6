import { AppError } from "@vocalhost/protocol";
import { isIPv6 } from "node:net";
import type { Principal } from "../identity/principal.ts";
import { prepared } from "@vocalhost/store/prepared";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";
import { moveSession } from "./session-state.ts";

/** How many sessions may wait for their sockets at once: each is a row and a start body that cost the caller nothing. */
export interface PendingLimits {
  perKey: number;
  perAgent: number;
}

/**
 * Clients come within a second or two. One key of several must not be able to fill an agent's places alone, nor one caller
 * those of a public key: each may have as many as it leaves free.
 */
export const defaultPendingLimits: PendingLimits = { perKey: 200, perAgent: 1_000 };

export interface PendingPlace {
  agent: Pick<AgentRow, "id" | "name">;
  apiKeyId: string | null;
  /** See `callerOf`. */
  caller: string | null;
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
export function countPending(db: Db, { agent, apiKeyId, caller }: PendingPlace) {
  return pendingCounts(db, { agentId: agent.id, apiKeyId: apiKeyId ?? "", caller: caller ?? "" });
}

type CountedPlace = Record<"agentId" | "apiKeyId" | "caller", string>;

const pendingCounts = prepared((db, { agentId, apiKeyId, caller }: CountedPlace) =>
  db
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
    .where("state", "=", "pending"),
);

type PendingCounts = Record<"ofKey" | "ofCaller" | "ofAgent", number> &
  Record<"keySince" | "callerSince" | "agentSince", number | null> & { state: AgentRow["state"] | null };

export interface PendingCheck {
  agent: PendingPlace["agent"];
  limits: PendingLimits;
  timing: Pick<Timing, "socketTokenMs" | "reconcileMs">;
  nowMs: number;
}

/** Throws unless one more may wait. */
export function checkPending(
  [row]: readonly PendingCounts[],
  { agent, limits, timing, nowMs }: PendingCheck,
): void {
  if (row?.state !== "live") throw new AppError("NOT_FOUND", { message: "Service not found" });
  // The oldest gives its place back then at the latest, see `planPending`.
  const tooMany = (message: string, since: number | null): AppError =>
    new AppError("TOO_MANY_PENDING", {
      message,
      retryAfterMs: (since ?? nowMs) + timing.socketTokenMs + timing.reconcileMs - nowMs,
    });
  const leftOfKey = limits.perKey - row.ofKey;
  if (leftOfKey <= 0)
    throw tooMany(`This key may have ${limits.perKey} sessions that wait for their WebSockets`, row.keySince);
  if (row.ofCaller >= leftOfKey)
    throw tooMany(
      "Of the sessions of this key that wait for their WebSockets, too many are of your network address",
      row.callerSince,
    );
  if (row.ofAgent >= limits.perAgent)
    throw tooMany(
      `Agent ${agent.name} may have ${limits.perAgent} sessions that wait for their WebSockets`,
      row.agentSince,
    );
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
