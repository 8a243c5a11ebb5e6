import type { OrganizationId } from "../../identity/principal.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { DeployingOptions } from "../../agents/deployments/deploying.ts";
import { parseSpec } from "../../agents/deployments/deployment-spec.ts";
import type { Log } from "@vocalhost/base/log";
import {
  createRedactor,
  REDACTED_FROM_LENGTH,
  type Redactor,
  searchedCharacters,
  withhold,
} from "../../secrets/redact.ts";
import type { Store } from "@vocalhost/store/store";

/** Returns the redactor for the secrets of a deployment. */
export type RedactorOf = (deploymentId: string) => Promise<Redactor>;

export interface Redactors {
  redactorOf: RedactorOf;
  /** The given function; the values it returns are redacted from then on. */
  secretsOf: DeployingOptions["secretsOf"];
}

export interface RedactorsOptions {
  store: Store;
  log: Log;
  clock: Clock;
  secretsOf: DeployingOptions["secretsOf"];
}

/** The secret set and version a deployment uses. */
interface Pin {
  organizationId: OrganizationId;
  secretSet: string;
  secretVersion: number;
}

interface KnownSet {
  organizationId: OrganizationId;
  /** Includes values of a deleted set with the same name, whose instances may still run. */
  values: ReadonlySet<string>;
  characters: number;
  redactor: Promise<Redactor>;
  usedMs: number;
  /** Set if the organisation's share was used up; all output is then withheld. */
  withheldMs: number | undefined;
}

const PINS_MAX = 10_000;
const SETS_MAX = 10_000;
const CHARACTERS_MAX = 16 * 1024 * 1024; // of all sets together; a character costs some three dozen bytes
const SHARE_MAX = 8 * 1024 * 1024; // of one organisation, whose sets must not evict those of others
const UNUSED_MS = 60_000;

/** Caches one redactor per version of a set, shared by its deployments. */
export function createRedactors({ store, log, clock, ...options }: RedactorsOptions): Redactors {
  const pins = new Map<string, Promise<Pin | undefined>>();
  const sets = new Map<string, KnownSet>();
  const reading = new Map<string, Promise<KnownSet>>();
  const told = new Set<string>(); // messages already logged

  function pinOf(deploymentId: string): Promise<Pin | undefined> {
    const known = pins.get(deploymentId);
    if (known) return known;
    if (pins.size >= PINS_MAX) pins.clear();
    const read = readPin(store, deploymentId);
    pins.set(deploymentId, read);
    read.catch(() => pins.delete(deploymentId));
    return read;
  }

  function setOf(pin: Pin): KnownSet | Promise<KnownSet> {
    const key = keyOf(pin);
    const known = sets.get(key);
    const nowMs = clock.monotonicMs();
    if (known && (known.withheldMs === undefined || nowMs - known.withheldMs < UNUSED_MS)) {
      known.usedMs = nowMs;
      return known;
    }
    let read = reading.get(key);
    if (!read) {
      read = options
        .secretsOf(pin.organizationId, pin.secretSet, pin.secretVersion)
        .then((secrets) => hide(pin, secrets))
        .finally(() => reading.delete(key));
      reading.set(key, read);
    }
    return read;
  }

  function hide(pin: Pin, secrets: Record<string, string>): KnownSet {
    const key = keyOf(pin);
    const before = sets.get(key);
    const now = Object.values(secrets);
    if (before && before.withheldMs === undefined && now.every((value) => before.values.has(value)))
      return before;
    sets.delete(key);
    const fresh = search(pin, new Set([...(before?.values ?? []), ...now]));
    sets.set(key, fresh);
    return fresh;
  }

  function search(pin: Pin, values: ReadonlySet<string>): KnownSet {
    const { organizationId } = pin;
    const usedMs = clock.monotonicMs();
    const characters = makeRoom(organizationId, values);
    if (characters === undefined) {
      const text =
        "the secret sets that its bots use are too large together: some output of them is withheld";
      warnOnce(organizationId, { organizationId }, text);
      const redactor = Promise.resolve(withhold);
      return { organizationId, values: new Set(), characters: 0, redactor, usedMs, withheldMs: usedMs };
    }
    const redactor = createRedactor(values, (leftOut) =>
      warnOnce(
        keyOf(pin),
        { ...pin, leftOut },
        "secret set is too large to be hidden whole, some of it may show in the output of bots",
      ),
    );
    return { organizationId, values, characters, redactor, usedMs, withheldMs: undefined };
  }

  /** Returns the characters these values need, or undefined if they do not fit. */
  function makeRoom(organizationId: OrganizationId, values: ReadonlySet<string>): number | undefined {
    const own = [...sets].filter(([, set]) => set.organizationId === organizationId);
    const least = lengthOf([...values].filter(({ length }) => length >= REDACTED_FROM_LENGTH));
    const isFull = (more: number): boolean => sizeOf(own.map(([, set]) => set)) + more > SHARE_MAX;
    if (isFull(least)) dropUnused(own);
    if (isFull(least)) return undefined; // decided without counting the encoded forms
    const characters = searchedCharacters(values);
    if (isFull(characters)) dropUnused(own);
    if (isFull(characters)) return undefined;
    let total = sizeOf(sets.values());
    for (const [key, set] of [...sets].toSorted(([, one], [, other]) => one.usedMs - other.usedMs)) {
      if (total + characters <= CHARACTERS_MAX && sets.size < SETS_MAX) break;
      sets.delete(key);
      total -= set.characters;
    }
    return characters;
  }

  function dropUnused(own: [string, KnownSet][]): void {
    const oldestMs = clock.monotonicMs() - UNUSED_MS;
    const unused = own.filter(([, { usedMs }]) => usedMs < oldestMs);
    for (const each of unused) {
      sets.delete(each[0]);
      own.splice(own.indexOf(each), 1);
    }
  }

  function warnOnce(about: string, fields: object, sentence: string): void {
    if (told.has(about)) return;
    if (told.size >= SETS_MAX) told.clear();
    told.add(about);
    log.warn(fields, sentence);
  }

  return {
    async redactorOf(deploymentId) {
      const pin = await pinOf(deploymentId);
      return pin ? (await setOf(pin)).redactor : showAll;
    },
    async secretsOf(organizationId, secretSet, secretVersion) {
      const secrets = await options.secretsOf(organizationId, secretSet, secretVersion);
      hide({ organizationId, secretSet, secretVersion }, secrets);
      return secrets;
    },
  };
}

const showAll: Redactor = (text) => text;

async function readPin(store: Store, deploymentId: string): Promise<Pin | undefined> {
  const row = await store.db
    .selectFrom("deployments")
    .select(["organizationId", "spec"])
    .where("id", "=", deploymentId)
    .executeTakeFirstOrThrow();
  const { secretSet, secretVersion } = parseSpec(row.spec);
  if (secretSet === null || secretVersion === null) return undefined;
  return { organizationId: row.organizationId as OrganizationId, secretSet, secretVersion };
}

function keyOf({ organizationId, secretSet, secretVersion }: Pin): string {
  return [organizationId, secretSet, secretVersion].join("|");
}

function sizeOf(sets: Iterable<KnownSet>): number {
  let total = 0;
  for (const { characters } of sets) total += characters;
  return total;
}

function lengthOf(values: readonly string[]): number {
  return values.reduce((total, { length }) => total + length, 0);
}

/** Redacts text that is shown to people; shows nothing of what cannot be redacted. */
export async function redactOrCut(
  redactorOf: RedactorOf,
  deploymentId: string,
  text: string,
): Promise<string> {
  const redact = await redactorOf(deploymentId).catch(() => undefined);
  return redact ? redact(text) : (text.split("\n", 1)[0] ?? "");
}
