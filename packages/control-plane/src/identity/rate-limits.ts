import { AppError, readSettings, wholeNumber, type Settings, type ValuesOf } from "@vocalhost/protocol";
import type { Clock } from "@vocalhost/base/clock";
import type { Principal } from "./principal.ts";

const BUCKETS_MAX = 10_000;
const MINUTE_MS = 60_000;

const rate = wholeNumber({ min: 1, max: 1_000_000 });

export const startRateSettings = {
  startsPerMinute: {
    name: "VOCALHOST_STARTS_PER_MINUTE",
    schema: rate.default(600),
    help: "starts a minute of a public key without a rate of its own",
  },
} as const satisfies Settings;

/** Rates of the management interface. A dashboard page needs a few reads a second; a change writes to the disk. */
export const requestRateSettings = {
  reads: {
    name: "VOCALHOST_READS_PER_MINUTE",
    schema: rate.default(6_000),
    help: "reads a minute of the management interface: all keys of an organisation together, and each person",
  },
  changes: {
    name: "VOCALHOST_CHANGES_PER_MINUTE",
    schema: rate.default(600),
    help: "the same for requests that change something; beyond either 429 `RATE_LIMITED`",
  },
} as const satisfies Settings;

export type RequestRates = ValuesOf<typeof requestRateSettings>;
const defaults = readSettings({ ...startRateSettings, ...requestRateSettings }, {});

/** Limits starts of sessions per key, and per organisation for all its keys and people together. */
export interface StartLimits {
  /** Takes one start, or throws `RATE_LIMITED`. */
  take(principal: Principal): Promise<void>;
}

export interface StartLimitsOptions {
  clock: Clock;
  /** For keys without their own rate: each visitor of a page has a key. @default the settings' rate */
  startsPerMinute?: number;
  organizationPerSecond(organizationId: string): Promise<number>;
}

const BURST_S = 10; // for the begin of a campaign, or calls repeated after an outage

export function createStartLimits(options: StartLimitsOptions): StartLimits {
  const { clock, startsPerMinute = defaults.startsPerMinute } = options;
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

/** Limits reads and changes: all keys of an organisation together, and each person. */
export interface RequestLimits {
  /** Takes one request, or throws `RATE_LIMITED`. */
  take(principal: Principal, method: string): void;
}

export function createRequestLimits({
  clock,
  rates = defaults,
}: {
  clock: Clock;
  rates?: RequestRates;
}): RequestLimits {
  const buckets = { reads: createBuckets(clock), changes: createBuckets(clock) };
  return {
    take(principal, method) {
      const kind = method === "GET" || method === "HEAD" ? "reads" : "changes";
      // One request creates a key, so a limit for each key would have no effect.
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
  // A key with a rate of zero never gets a start back.
  const retryAfterMs = most > 0 ? buckets.waitMs(name, most) : undefined;
  throw new AppError("RATE_LIMITED", { message: refusal, retryAfterMs });
}

/** Each bucket holds the quota of this time and refills steadily. Buckets are in memory only. */
export function createBuckets(clock: Clock, fullAfterMs = MINUTE_MS) {
  const buckets = new Map<string, { left: number; at: number }>();
  const leftIn = (name: string, most: number): number => {
    const bucket = buckets.get(name);
    if (!bucket) return most;
    return Math.min(most, bucket.left + ((clock.monotonicMs() - bucket.at) * most) / fullAfterMs);
  };
  return {
    /** Returns false if the bucket is empty. */
    take(name: string, most: number): boolean {
      const left = leftIn(name, most);
      if (left < 1) return false;
      buckets.delete(name);
      // Evicts only the least recently used bucket: clients with many names must not reset the others.
      const [oldest] = buckets.size >= BUCKETS_MAX ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      buckets.set(name, { left: left - 1, at: clock.monotonicMs() });
      return true;
    },
    /** Returns the time until the bucket has one. */
    waitMs: (name: string, most: number): number =>
      (Math.max(0, 1 - leftIn(name, most)) * fullAfterMs) / most,
    giveBack(name: string): void {
      const bucket = buckets.get(name);
      if (bucket) bucket.left += 1;
    },
  };
}

/** An agent that is not on the key's list gets the same error as one that does not exist. */
export function requireAgentAllowed(principal: Principal, agentName: string): void {
  if (principal.kind !== "key" || principal.agents === null) return;
  if (principal.agents.includes(agentName)) return;
  throw new AppError("NOT_FOUND", { message: "Service not found" });
}
