import { randomUUID } from "node:crypto";
import { AppError } from "@vocalhost/protocol";
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { ApiKeyRow, Schema } from "@vocalhost/store/schema";
import type { Store, Tx } from "@vocalhost/store/store";
import { writeAudit } from "./audit.ts";
import type { KeyCache } from "./key-cache.ts";
import { createKey, maskKey, parseKey } from "./key-format.ts";
import type { KeyKind } from "./key-format.ts";
import type { OrganizationId } from "./principal.ts";

export const KEYS_PER_KIND = 5;
export const ROTATION_OVERLAP_MAX_MS = 7 * 86_400_000;
/** The old keys of rotations count beside the five; daily rotation has to wait until they end. */
const KEYS_PER_KIND_WITH_OLD_ONES = 10;
const NAME_LENGTH = 100;
const ENDED_KEYS_LISTED = 100; // daily rotation leaves hundreds within the retention period

export interface ApiKeysOptions {
  store: Store;
  clock: Clock;
  cache: KeyCache;
  failpoint: Failpoint;
}

export interface KeyInput {
  kind: KeyKind;
  name: string;
  /** Names of the agents a public key may start. @default all */
  agents?: string[] | null | undefined;
  /** Starts per minute. @default unlimited */
  ratePerMinute?: number | null | undefined;
  /** Concurrent sessions. @default unlimited */
  concurrency?: number | null | undefined;
  /** @default never */
  expiresAt?: number | null | undefined;
}

/** A key as lists show it, without its value or hash. */
export interface ListedKey extends Omit<ApiKeyRow, "sha256" | "organizationId" | "agents"> {
  /** Prefix and last four characters. */
  masked: string;
  agents: string[] | null;
}

/** The only answer that contains a key's value. */
export interface CreatedKey {
  id: string;
  value: string;
}

export interface ApiKeys {
  create(organizationId: OrganizationId, input: KeyInput, actor: string): Promise<CreatedKey>;
  /** Returns all usable keys and the newest of the others. */
  list(organizationId: OrganizationId): Promise<ListedKey[]>;
  /** The key stops working immediately in this process and within a second in others; its record stays. */
  revoke(organizationId: OrganizationId, id: string, actor: string): Promise<void>;
  delete(organizationId: OrganizationId, id: string, actor: string): Promise<void>;
  /** Creates a key with the same rights; the old key keeps working during the overlap. */
  rotate(
    organizationId: OrganizationId,
    id: string,
    options: { overlapMs: number; actor: string },
  ): Promise<CreatedKey>;
}

export function createApiKeys({ store, clock, cache, failpoint }: ApiKeysOptions): ApiKeys {
  return {
    async create(organizationId, input, actor) {
      checkInput(input);
      return store.transaction(async (tx) => {
        await requireFreePlace(
          { store, tx, organizationId },
          { kind: input.kind, limit: KEYS_PER_KIND, nowMs: clock.nowMs() },
        );
        return insertKey(tx, organizationId, input, { actor, nowMs: clock.nowMs() });
      });
    },

    async list(organizationId) {
      const nowMs = clock.nowMs();
      const keys = store.db
        .selectFrom("apiKeys")
        .selectAll()
        .where("organizationId", "=", organizationId)
        .orderBy("createdAt", "desc")
        .orderBy("id", "desc");
      const usable = await keys.where((is) => whichAreUsable(is, nowMs)).execute();
      const ended = await keys
        .where((is) => is.not(whichAreUsable(is, nowMs)))
        .limit(ENDED_KEYS_LISTED)
        .execute();
      return [...usable, ...ended].sort(byAge).map(toListed);
    },

    async revoke(organizationId, id, actor) {
      failpoint("key.revoked.before");
      const sha256 = await store.transaction(async (tx) => {
        const row = await requireKey(tx, organizationId, id);
        if (row.revokedAt !== null) return row.sha256;
        await tx.updateTable("apiKeys").set({ revokedAt: clock.nowMs() }).where("id", "=", id).execute();
        await audit(tx, organizationId, { action: "key-revoked", id, actor, at: clock.nowMs() });
        return row.sha256;
      });
      cache.forget(sha256);
      failpoint("key.revoked.after");
    },

    async delete(organizationId, id, actor) {
      const sha256 = await store.transaction(async (tx) => {
        const row = await requireKey(tx, organizationId, id);
        await tx.deleteFrom("apiKeys").where("id", "=", id).execute();
        await audit(tx, organizationId, { action: "key-deleted", id, actor, at: clock.nowMs() });
        return row.sha256;
      });
      cache.forget(sha256);
    },

    async rotate(organizationId, id, { overlapMs, actor }) {
      if (!(overlapMs >= 0 && overlapMs <= ROTATION_OVERLAP_MAX_MS)) {
        throw badRequest("The old key may live on for at most 7 days");
      }
      const nowMs = clock.nowMs();
      const { created, sha256 } = await store.transaction(async (tx) => {
        const old = await requireKey(tx, organizationId, id);
        if (!isUsable(old, nowMs)) throw badRequest("This key is no longer valid");
        const limit = KEYS_PER_KIND_WITH_OLD_ONES;
        await requireFreePlace({ store, tx, organizationId }, { kind: old.kind, limit, nowMs });
        const created = await insertKey(tx, organizationId, toInput(old), { actor, nowMs });
        const expiresAt = Math.min(nowMs + overlapMs, old.expiresAt ?? Number.MAX_SAFE_INTEGER);
        await tx.updateTable("apiKeys").set({ expiresAt }).where("id", "=", id).execute();
        const details = { replacedBy: created.id, expiresAt };
        await audit(tx, organizationId, { action: "key-rotated", id, actor, at: nowMs, details });
        return { created, sha256: old.sha256 };
      });
      cache.forget(sha256);
      return created;
    },
  };
}

export function isUsable(row: Pick<ApiKeyRow, "revokedAt" | "expiresAt">, nowMs: number): boolean {
  return row.revokedAt === null && (row.expiresAt === null || row.expiresAt > nowMs);
}

/** The condition of `isUsable`, in SQL. */
function whichAreUsable(is: ExpressionBuilder<Schema, "apiKeys">, nowMs: number): Expression<SqlBool> {
  return is.and([
    is("revokedAt", "is", null),
    is.or([is("expiresAt", "is", null), is("expiresAt", ">", nowMs)]),
  ]);
}

function byAge(one: ApiKeyRow, other: ApiKeyRow): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);
}

/** Inserts the key and its audit row. The first start calls it in its own transaction. */
export async function insertKey(
  tx: Tx,
  organizationId: OrganizationId,
  input: KeyInput,
  { actor, nowMs }: { actor: string; nowMs: number },
): Promise<CreatedKey> {
  const value = createKey(input.kind);
  const parsed = parseKey(value);
  if (!parsed) throw new Error("A new key must be a valid one");
  const id = randomUUID();
  await tx
    .insertInto("apiKeys")
    .values({
      id,
      organizationId,
      sha256: parsed.sha256,
      kind: input.kind,
      name: input.name,
      lastFour: parsed.lastFour,
      publicValue: input.kind === "public" ? value : null,
      agents: input.agents ? JSON.stringify(input.agents) : null,
      ratePerMinute: input.ratePerMinute ?? null,
      concurrency: input.concurrency ?? null,
      createdBy: actor,
      createdAt: nowMs,
      expiresAt: input.expiresAt ?? null,
      revokedAt: null,
      lastUsedAt: null,
    })
    .execute();
  const details = { kind: input.kind, name: input.name };
  await audit(tx, organizationId, { action: "key-created", id, actor, at: nowMs, details });
  return { id, value };
}

function checkInput(input: KeyInput): void {
  if (input.name.length > NAME_LENGTH) throw badRequest(`A key's name has at most ${NAME_LENGTH} characters`);
  const isLimited = [input.agents, input.ratePerMinute, input.concurrency].some((limit) => limit != null);
  if (input.kind === "private" && isLimited) {
    throw badRequest("Only public keys can be limited to agents, a rate or a number of sessions");
  }
  for (const limit of [input.ratePerMinute, input.concurrency]) {
    if (limit != null && !(Number.isInteger(limit) && limit > 0)) {
      throw badRequest("A key's rate and number of sessions must be whole and above zero");
    }
  }
}

async function requireFreePlace(
  { store, tx, organizationId }: { store: Store; tx: Tx; organizationId: OrganizationId },
  { kind, limit, nowMs }: { kind: KeyKind; limit: number; nowMs: number },
): Promise<void> {
  // The lock keeps two concurrent creations from taking the same free place.
  const organization = tx.selectFrom("organizations").select("id").where("id", "=", organizationId);
  await store.forUpdate(organization).execute();
  const { count } = await tx
    .selectFrom("apiKeys")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .where("kind", "=", kind)
    .where((is) => whichAreUsable(is, nowMs))
    .executeTakeFirstOrThrow();
  if (count < limit) return;
  throw new AppError("QUOTA_EXCEEDED", {
    message: `An organisation can have ${limit} ${kind} keys at once. Revoke one first.`,
  });
}

async function requireKey(tx: Tx, organizationId: OrganizationId, id: string): Promise<ApiKeyRow> {
  const row = await tx
    .selectFrom("apiKeys")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new AppError("NOT_FOUND", { message: "Key not found" });
  return row;
}

interface KeyAudit {
  action: string;
  id: string;
  actor: string;
  at: number;
  details?: Record<string, unknown>;
}

function audit(tx: Tx, organizationId: OrganizationId, { id, ...entry }: KeyAudit): Promise<void> {
  return writeAudit(tx, { organizationId, target: `key:${id}`, ...entry });
}

function toInput(row: ApiKeyRow): KeyInput {
  return { ...row, agents: parseAgents(row), expiresAt: null };
}

export function parseAgents(row: Pick<ApiKeyRow, "agents">): string[] | null {
  return row.agents === null ? null : (JSON.parse(row.agents) as string[]);
}

function toListed(row: ApiKeyRow): ListedKey {
  const { sha256: _sha256, organizationId: _organizationId, ...shown } = row;
  return { ...shown, agents: parseAgents(row), masked: maskKey(row) };
}

function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}
