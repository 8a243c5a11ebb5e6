import { AppError } from "@vocalhost/protocol";
import type { Clock } from "@vocalhost/base/clock";
import type { Principal } from "./principal.ts";

const BUCKETS_MAX = 10_000;
const MINUTE_MS = 60_000;

/** Of public keys that were given no rate: anyone who looks at a page has its key. */
export const DEFAULT_STARTS_PER_MINUTE = 600;

/** How often a key may start sessions, and an organisation with all its keys and people. */
export interface StartLimits {
  /** Takes one start, or throws `RATE_LIMITED`. */
  take(principal: Principal): Promise<void>;
}

export interface StartLimitsOptions {
  clock: Clock;
  /** Of a key that was given no rate. @default DEFAULT_STARTS_PER_MINUTE */
  startsPerMinute?: number;
  organizationPerSecond(organizationId: string): Promise<number>;
}

const BURST_S = 10; // a campaign that begins, or calls that come back after an outage

export function createStartLimits(options: StartLimitsOptions): StartLimits {
  const { clock, startsPerMinute = DEFAULT_STARTS_PER_MINUTE } = options;
  const ofKeys = createBuckets(clock);
  const ofOrganizations = createBuckets(clock, BURST_S * 1_000);
  return {
    async take(principal) {
      const perMinute = principal.kind === "key" ? (principal.ratePerMinute ?? startsPerMinute) : Infinity;
      if (principal.kind === "key")
        takeOrRefuse(ofKeys, principal.keyId, {
          most: perMinute,
          refusal: `This key may start ${perMinute} sessions a minute`,
        });
      const { organizationId } = principal;
      const perSecond = await options.organizationPerSecond(organizationId);
      const refusal = `This organisation may start ${perSecond} sessions a second: wait a moment, or ask for more`;
      takeOrRefuse(ofOrganizations, organizationId, { most: perSecond * BURST_S, refusal });
    },
  };
}

/** Requests a minute to the management interface. */
export interface RequestRates {
  reads: number;
  changes: number;
}

/** A page that looks at everything needs a few reads a second; each change is a write to the disk. */
export const defaultRequestRates: RequestRates = { reads: 6_000, changes: 600 };

/** How often one may look and change: all keys of an organisation together, and each person. */
export interface RequestLimits {
  /** Takes one request, or throws `RATE_LIMITED`. */
  take(principal: Principal, method: string): void;
}

export function createRequestLimits({
  clock,
  rates = defaultRequestRates,
}: {
  clock: Clock;
  rates?: RequestRates;
}): RequestLimits {
  const buckets = { reads: createBuckets(clock), changes: createBuckets(clock) };
  return {
    take(principal, method) {
      const kind = method === "GET" || method === "HEAD" ? "reads" : "changes";
      // A key is made with one request, so a share of its own for each would be no limit.
      const isPerson = principal.kind === "user";
      const who = isPerson ? `user:${principal.userId}` : `organization:${principal.organizationId}`;
      const allowed = `${rates[kind]} ${kind} a minute`;
      const refusal = isPerson
        ? `You may make ${allowed}: wait a moment`
        : `The keys of this organisation may make ${allowed} together: wait a moment`;
      takeOrRefuse(buckets[kind], who, { most: rates[kind], refusal });
    },
  };
}

function takeOrRefuse(
  buckets: ReturnType<typeof createBuckets>,
  name: string,
  { most, refusal }: { most: number; refusal: string },
): void {
  if (buckets.take(name, most)) return;
  // A key whose rate is none never gets one back.
  const retryAfterMs = most > 0 ? buckets.waitMs(name, most) : undefined;
  throw new AppError("RATE_LIMITED", { message: refusal, retryAfterMs });
}

/** Each holds what this time is worth, and is refilled steadily. Kept in memory only. */
export function createBuckets(clock: Clock, fullAfterMs = MINUTE_MS) {
  const buckets = new Map<string, { left: number; at: number }>();
  const leftIn = (name: string, most: number): number => {
    const bucket = buckets.get(name);
    if (!bucket) return most;
    return Math.min(most, bucket.left + ((clock.monotonicMs() - bucket.at) * most) / fullAfterMs);
  };
  return {
    /** False if there is none left. */
    take(name: string, most: number): boolean {
      const left = leftIn(name, most);
      if (left < 1) return false;
      buckets.delete(name);
      // The one unused for longest: callers with many names must not reset the rest.
      const [oldest] = buckets.size >= BUCKETS_MAX ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      buckets.set(name, { left: left - 1, at: clock.monotonicMs() });
      return true;
    },
    /** Until there is one to take. */
    waitMs: (name: string, most: number): number =>
      (Math.max(0, 1 - leftIn(name, most)) * fullAfterMs) / most,
    giveBack(name: string): void {
      const bucket = buckets.get(name);
      if (bucket) bucket.left += 1;
    },
  };
}

/** An agent that is not on a key's list looks like one that does not exist. */
export function requireAgentAllowed(principal: Principal, agentName: string): void {
  if (principal.kind !== "key" || principal.agents === null) return;
  if (principal.agents.includes(agentName)) return;
  throw new AppError("NOT_FOUND", { message: "Service not found" });
}
