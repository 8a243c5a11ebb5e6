import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import { prepared } from "@vocalhost/store/prepared";
import { sendWithNext } from "@vocalhost/store/round-trips";
import type { Db, Tx } from "@vocalhost/store/store";

export interface IdempotencyKey {
  key: string;
  /** Hash of the whole request: using the same key for a different request is a mistake. */
  parametersHash: string;
}

export interface KeyedRequest {
  organizationId: OrganizationId;
  idempotency?: IdempotencyKey | undefined;
}

/** Asks for what an earlier request with the same key has made; there is nothing to ask without a key. */
export function earlierSessions(db: Db, { organizationId, idempotency }: KeyedRequest) {
  return idempotency && sessionsOfKey(db, { organizationId, key: idempotency.key });
}

const sessionsOfKey = prepared((db, { organizationId, key }: { organizationId: string; key: string }) =>
  db
    .selectFrom("idempotency")
    .leftJoin("sessions", "sessions.id", "idempotency.sessionId")
    .selectAll("sessions")
    .select("idempotency.parametersHash")
    .where("idempotency.organizationId", "=", organizationId)
    .where("idempotency.key", "=", key),
);

/** What it has made. One that came to nothing may be tried again. */
export function readEarlier(
  rows: readonly EarlierRow[] | undefined,
  { idempotency }: KeyedRequest,
): SessionRow | undefined {
  const [found] = rows ?? [];
  if (!found) return undefined;
  const { parametersHash, ...session } = found;
  if (parametersHash !== idempotency?.parametersHash)
    throw new AppError("CONFLICT", { message: "This Idempotency-Key was used with another request" });
  if (!isThere(session) || session.state === "failed" || session.state === "expired") return undefined;
  return session;
}

type EarlierRow = { [Column in keyof SessionRow]: SessionRow[Column] | null } & { parametersHash: string };

function isThere(session: Omit<EarlierRow, "parametersHash">): session is SessionRow {
  return session.id !== null;
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
  await sendWithNext(
    tx,
    tx.deleteFrom("idempotency").where("organizationId", "=", organizationId).where("key", "=", key),
  );
  await sendWithNext(
    tx,
    tx.insertInto("idempotency").values({ organizationId, key, parametersHash, sessionId, createdAt: nowMs }),
  );
}
