// Limits attempts to sign in, before any password is hashed.
import { AppError, type ErrorCode } from "@vocalhost/protocol";
import { isIP } from "node:net";
import type { Clock } from "@vocalhost/base/clock";
import { createBuckets } from "./rate-limits.ts";

/** The size of a bucket, and the time in which it refills. */
const ofNetwork = { most: 10, fullAfterMs: 10_000 };
const ofSite = { most: 40, fullAfterMs: 10_000 }; // one customer of an IPv6 provider may have 65,536 networks
const ofAccountFromSite = { most: 10, fullAfterMs: 600_000 };
/** Well above the limit of one site, so that only many sites together can exhaust an account's attempts. */
const ofAccount = { most: 50, fullAfterMs: 500_000 };

const HASHING_MAX = 2; // of libuv's four threads, which files and DNS need as well
const WAITING_MAX = 20;
const FIRST_GUESS_MS = 100;

export interface SignInAttempt {
  /** The address the gateway saw. */
  address: string;
  /** Undefined if the attempt tries no account's password. */
  account: string | undefined;
  /** Returns addresses with a sign-in to the account, which attempts from elsewhere must not lock out. */
  knownAddresses(): Promise<readonly string[]>;
}

export interface SignInLimits {
  /** Runs `hash` in its turn, or answers 429 or 503 with the seconds until an attempt can succeed. */
  run(attempt: SignInAttempt, hash: () => Promise<Response>): Promise<Response>;
}

export function createSignInLimits(clock: Clock): SignInLimits {
  const networks = createLimit(clock, ofNetwork);
  const sites = createLimit(clock, ofSite);
  const accountsFromSites = createLimit(clock, ofAccountFromSite);
  const accounts = createLimit(clock, ofAccount);
  const queue = createQueue(clock);
  return {
    async run({ address, account, knownAddresses }, hash) {
      const network = networkOf(address, 4);
      const site = networkOf(address, 3);
      const taken = [networks(network)];
      if (!taken.some(isRefused)) taken.push(sites(site)); // refused ones do not count for the site
      const ofPassword: Taken[] = []; // given back if the password is right
      let isKnown = false;
      if (account !== undefined && !taken.some(isRefused)) {
        isKnown = (await knownAddresses()).some((each) => networkOf(each, 4) === network);
        // A known network has its own attempts, which its neighbours cannot use up.
        ofPassword.push(accountsFromSites(JSON.stringify([account, isKnown ? network : `site ${site}`])));
        if (!isKnown && !ofPassword.some(isRefused)) ofPassword.push(accounts(account));
      }
      const waitMs = Math.max(...[...taken, ...ofPassword].map((each) => each.waitMs));
      if (waitMs > 0) return refusal("RATE_LIMITED", "Too many attempts to sign in", waitMs);
      const response = await queue.run(hash, { isFirst: isKnown });
      if (response.ok) for (const { giveBack } of ofPassword) giveBack();
      return response;
    },
  };
}

interface Taken {
  /** 0 if an attempt was taken. */
  waitMs: number;
  giveBack(): void;
}

function isRefused({ waitMs }: Taken): boolean {
  return waitMs > 0;
}

function createLimit(clock: Clock, { most, fullAfterMs }: { most: number; fullAfterMs: number }) {
  const buckets = createBuckets(clock, fullAfterMs);
  return (name: string): Taken => ({
    waitMs: buckets.take(name, most) ? 0 : buckets.waitMs(name, most),
    giveBack: () => buckets.giveBack(name),
  });
}

/** Hashing shares its threads with other work, so both running and waiting hashes are limited. */
function createQueue(clock: Clock) {
  const waiting = { first: [] as (() => void)[], later: [] as (() => void)[] };
  let running = 0;
  let meanMs = FIRST_GUESS_MS;
  return {
    async run(hash: () => Promise<Response>, { isFirst }: { isFirst: boolean }): Promise<Response> {
      const line = isFirst ? waiting.first : waiting.later;
      if (line.length >= WAITING_MAX) {
        const untilFreeMs = ((waiting.first.length + waiting.later.length) * meanMs) / HASHING_MAX;
        return refusal("SERVICE_UNAVAILABLE", "Too many people are signing in", untilFreeMs);
      }
      if (running < HASHING_MAX) running += 1;
      else await new Promise<void>((resolve) => line.push(resolve));
      const startedMs = clock.monotonicMs();
      try {
        return await hash();
      } finally {
        meanMs += (clock.monotonicMs() - startedMs - meanMs) / 10;
        const next = waiting.first.shift() ?? waiting.later.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}

function refusal(code: ErrorCode, what: string, waitMs: number): Response {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const error = new AppError(code, { message: `${what}: try again in ${seconds} s` });
  return Response.json(error.toBody(), {
    status: error.status,
    headers: { "retry-after": String(seconds) },
  });
}

/**
 * Returns the first 16-bit groups of an IPv6 address: four are one network, three one customer's site. Returns an
 * IPv4 address unchanged.
 */
function networkOf(address: string, groups: number): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => "0"), ...(tail ?? [])].slice(0, groups).join(":");
}
