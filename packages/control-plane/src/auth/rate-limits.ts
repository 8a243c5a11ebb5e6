import { AppError } from "@vocalhost/protocol";
import type { Clock } from "../clock.ts";
import type { Principal } from "./principal.ts";

const BUCKETS_MAX = 10_000;
const MINUTE_MS = 60_000;

/** Of public keys that were given no rate: anyone who looks at a page has its key. */
export const DEFAULT_STARTS_PER_MINUTE = 600;

/** How often a key may start sessions: a bucket of its minute's worth, refilled steadily. Kept in memory only. */
export interface StartLimits {
  /** Takes one start, or throws `RATE_LIMITED`. */
  take(principal: Principal): void;
}

export function createStartLimits({
  clock,
  startsPerMinute = DEFAULT_STARTS_PER_MINUTE,
}: {
  clock: Clock;
  startsPerMinute?: number;
}): StartLimits {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(principal) {
      if (principal.kind !== "key") return;
      const { keyId } = principal;
      const ratePerMinute = principal.ratePerMinute ?? startsPerMinute;
      const now = clock.monotonicMs();
      const bucket = buckets.get(keyId) ?? { left: ratePerMinute, at: now };
      const left = Math.min(ratePerMinute, bucket.left + ((now - bucket.at) * ratePerMinute) / MINUTE_MS);
      if (left < 1) {
        throw new AppError("RATE_LIMITED", {
          message: `This key may start ${ratePerMinute} sessions a minute`,
        });
      }
      if (!buckets.has(keyId) && buckets.size >= BUCKETS_MAX) buckets.clear();
      buckets.set(keyId, { left: left - 1, at: now });
    },
  };
}

/** An agent that is not on a key's list looks like one that does not exist. */
export function requireAgentAllowed(principal: Principal, agentName: string): void {
  if (principal.kind !== "key" || principal.agents === null) return;
  if (principal.agents.includes(agentName)) return;
  throw new AppError("NOT_FOUND", { message: "Service not found" });
}
