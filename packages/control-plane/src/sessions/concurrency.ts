import { AppError } from "@vocalhost/protocol";
import { BOUND_SESSION_STATES } from "../pools/instance-state.ts";
import { prepared } from "@vocalhost/store/prepared";
import type { Db } from "@vocalhost/store/store";

export interface ConcurrencyRequest {
  apiKeyId: string | null;
  /** Sessions this caller may have at once. */
  concurrency: number | null;
}

/** Asks how many sessions the key has; there is nothing to ask of a caller without a limit. */
export function countBound(db: Db, { apiKeyId, concurrency }: ConcurrencyRequest) {
  return concurrency === null || apiKeyId === null ? undefined : boundOfKey(db, { apiKeyId });
}

const boundOfKey = prepared((db, { apiKeyId }: { apiKeyId: string }) =>
  db
    .selectFrom("sessions")
    .select((is) => is.fn.countAll<number>().as("count"))
    .where("apiKeyId", "=", apiKeyId)
    .where("state", "in", BOUND_SESSION_STATES),
);

export function checkBound(
  rows: readonly { count: number }[] | undefined,
  { concurrency }: ConcurrencyRequest,
): void {
  const [bound] = rows ?? [];
  if (!bound || concurrency === null || bound.count < concurrency) return;
  throw new AppError("RATE_LIMITED", { message: `This key may have ${concurrency} sessions at once` });
}
