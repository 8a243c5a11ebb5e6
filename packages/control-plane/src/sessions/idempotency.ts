import { AppError } from "@vocalhost/protocol";
import type { SessionRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { OrganizationId } from "../identity/principal.ts";

export interface IdempotencyKey {
  key: string;
  /** Hash of the whole request: using the same key for a different request is a mistake. */
  parametersHash: string;
}

export interface KeyedRequest {
  organizationId: OrganizationId;
  idempotency?: IdempotencyKey | undefined;
}

/** Returns the session that an earlier request with the same key has made. A start that failed may be tried again. */
export async function findEarlier(
  db: Db,
  { organizationId, idempotency }: KeyedRequest,
): Promise<SessionRow | undefined> {
  if (!idempotency) return undefined;
  const used = await db
    .selectFrom("idempotency")
    .select(["parametersHash", "sessionId"])
    .where("organizationId", "=", organizationId)
    .where("key", "=", idempotency.key)
    .executeTakeFirst();
  if (!used) return undefined;
  if (used.parametersHash !== idempotency.parametersHash)
    throw new AppError("CONFLICT", { message: "This Idempotency-Key was used with another request" });
  return db
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", used.sessionId)
    .where("state", "not in", ["failed", "expired"])
    .executeTakeFirst();
}

/** Remembers the key in the transaction that makes the session. */
export async function rememberKey(
  tx: Tx,
  { organizationId, idempotency }: KeyedRequest,
  { id: sessionId, nowMs }: { id: string; nowMs: number },
): Promise<void> {
  if (!idempotency) return;
  const { key, parametersHash } = idempotency;
  await tx
    .deleteFrom("idempotency")
    .where("organizationId", "=", organizationId)
    .where("key", "=", key)
    .execute();
  await tx
    .insertInto("idempotency")
    .values({ organizationId, key, parametersHash, sessionId, createdAt: nowMs })
    .execute();
}
