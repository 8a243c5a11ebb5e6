import { AppError } from "@vocalhost/protocol";
import type { Db } from "@vocalhost/store/store";
import { BOUND_SESSION_STATES } from "../pools/instance-state.ts";

export interface ConcurrencyRequest {
  apiKeyId: string | null;
  /** How many sessions the key may have at once; null without a limit. */
  concurrency: number | null;
}

/** Throws if the key has as many sessions as it may have at once. */
export async function requireConcurrency(
  db: Db,
  { apiKeyId, concurrency }: ConcurrencyRequest,
): Promise<void> {
  if (concurrency === null || apiKeyId === null) return;
  const { count } = await db
    .selectFrom("sessions")
    .select((is) => is.fn.countAll<number>().as("count"))
    .where("apiKeyId", "=", apiKeyId)
    .where("state", "in", BOUND_SESSION_STATES)
    .executeTakeFirstOrThrow();
  if (count >= concurrency)
    throw new AppError("RATE_LIMITED", { message: `This key may have ${concurrency} sessions at once` });
}
