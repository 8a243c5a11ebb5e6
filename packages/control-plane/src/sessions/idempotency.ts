import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../auth/principal.ts";
import type { SessionRow } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

export interface IdempotencyKey {
  key: string;
  /** Of everything that was asked for: the same key with another wish is a mistake. */
  parametersHash: string;
}

interface KeyedWish {
  organizationId: OrganizationId;
  idempotency?: IdempotencyKey | undefined;
}

/** What an earlier request with the same key has made. One that came to nothing may be tried again. */
export async function earlierSession(tx: Tx, wish: KeyedWish): Promise<SessionRow | undefined> {
  if (!wish.idempotency) return undefined;
  const { key, parametersHash } = wish.idempotency;
  const row = await tx
    .selectFrom("idempotency")
    .selectAll()
    .where("organizationId", "=", wish.organizationId)
    .where("key", "=", key)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.parametersHash !== parametersHash)
    throw new AppError("CONFLICT", { message: "This Idempotency-Key was used with another request" });
  const session = await tx
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", row.sessionId)
    .executeTakeFirst();
  return session?.state === "failed" || session?.state === "expired" ? undefined : session;
}

/** In the transaction that makes the session. */
export async function rememberKey(tx: Tx, wish: KeyedWish, sessionId: string, nowMs: number): Promise<void> {
  if (!wish.idempotency) return;
  const { key, parametersHash } = wish.idempotency;
  const { organizationId } = wish;
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
