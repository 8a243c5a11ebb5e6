import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../auth/principal.ts";
import type { SessionRow } from "../store/schema.ts";
import type { Tx } from "../store/store.ts";

export interface IdempotencyKey {
  key: string;
  /** Hash of the whole request: using the same key for a different request is a mistake. */
  parametersHash: string;
}

interface KeyedRequest {
  organizationId: OrganizationId;
  idempotency?: IdempotencyKey | undefined;
}

/** What an earlier request with the same key has made. One that came to nothing may be tried again. */
export async function earlierSession(tx: Tx, request: KeyedRequest): Promise<SessionRow | undefined> {
  if (!request.idempotency) return undefined;
  const { key, parametersHash } = request.idempotency;
  const row = await tx
    .selectFrom("idempotency")
    .selectAll()
    .where("organizationId", "=", request.organizationId)
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
export async function rememberKey(
  tx: Tx,
  request: KeyedRequest,
  sessionId: string,
  nowMs: number,
): Promise<void> {
  if (!request.idempotency) return;
  const { key, parametersHash } = request.idempotency;
  const { organizationId } = request;
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
