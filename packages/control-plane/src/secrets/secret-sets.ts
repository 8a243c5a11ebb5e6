import { randomUUID } from "node:crypto";
import { AppError } from "@vocalhost/protocol";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { Log } from "@vocalhost/base/log";
import { readProperties } from "../identity/organizations/properties.ts";
import { badRequest } from "@vocalhost/base/refusals";
import type { SecretSetRow } from "@vocalhost/store/schema";
import type { Store, Tx } from "@vocalhost/store/store";
import type { MasterKeys } from "./master-keys.ts";
import { provisionSecrets } from "./provision.ts";
import { forgetOldVersions } from "./prune-versions.ts";
import { imagePullIncomplete, SECRET_SET_NAME } from "./secret-put.ts";
import type { SecretPut } from "./secret-put.ts";
import { IMAGE_PULL_FIELD, insertVersion, readFieldNames, readValues } from "./secret-values.ts";
import { removeSet } from "./remove-set.ts";
import { requireHideable } from "./require-hideable.ts";
import { requirePlace } from "./require-place.ts";

export interface SecretSetsOptions {
  store: Store;
  clock: Clock;
  masterKeys: MasterKeys;
  /** Codes; the first is the default. */
  regions: readonly string[];
  failpoint: Failpoint;
  log: Log;
}

export interface ListedSet {
  name: string;
  type: SecretSetRow["kind"];
  region: string;
  status: SecretSetRow["status"];
  errorMessage?: string;
}

export interface ShownSet extends Omit<ListedSet, "name" | "type"> {
  secrets: { fieldName: string }[];
}

/** Stores secret values, which leave only as an instance's environment. */
export interface SecretSets extends AsyncDisposable {
  list(organizationId: OrganizationId, filter?: { region?: string | undefined }): Promise<ListedSet[]>;
  get(organizationId: OrganizationId, name: string): Promise<ShownSet>;
  /** Creates the set, or merges into a new version of it. Resolves when it is stored; it is ready soon after. */
  put(
    organizationId: OrganizationId,
    name: string,
    options: { put: SecretPut; actor: string },
  ): Promise<{ region: string }>;
  delete(organizationId: OrganizationId, name: string, actor: string): Promise<void>;
  deleteKey(
    organizationId: OrganizationId,
    name: string,
    options: { fieldName: string; actor: string },
  ): Promise<void>;
}

export function createSecretSets(options: SecretSetsOptions): SecretSets {
  const { store, clock, failpoint, log } = options;
  const provisioning = new Set<Promise<unknown>>();

  /** Runs after the answer was sent. The next start provisions sets that a crash left pending. */
  function provisionSoon(): void {
    const work = provisionSecrets(options).catch((error: unknown) => {
      log.error({ err: error }, "secret sets could not be provisioned");
    });
    provisioning.add(work);
    void work.finally(() => provisioning.delete(work));
  }

  return {
    async list(organizationId, filter = {}) {
      const rows = await store.db
        .selectFrom("secretSets")
        .selectAll()
        .where("organizationId", "=", organizationId)
        .$if(filter.region !== undefined, (query) => query.where("region", "=", filter.region ?? ""))
        .orderBy("name")
        .execute();
      return rows.map((row) => ({ name: row.name, type: row.kind, ...toStatus(row) }));
    },

    async get(organizationId, name) {
      const set = await requireSet(store, organizationId, name);
      if (set.kind === "imagePullSecret") throw badRequest("Cannot retrieve image pull secrets by name");
      const fields = await readFieldNames(store.db, { setId: set.id, version: set.currentVersion });
      return { ...toStatus(set), secrets: fields.map((fieldName) => ({ fieldName })) };
    },

    async put(organizationId, name, { put, actor }) {
      if (!SECRET_SET_NAME.test(name)) throw badRequest("Invalid request format");
      const set = await findSet(store, organizationId, name);
      if (set) checkUpdate(set, put);
      const region = set?.region ?? (await chooseRegion(options, organizationId, put.region));
      failpoint("secrets.stored.before");
      await store.transaction(async (tx) => {
        const nowMs = clock.nowMs();
        if (!set) await requirePlace({ store, tx }, organizationId);
        const host = put.kind === "imagePullSecret" ? put.host : null;
        const next = set
          ? await advance(tx, set, { nowMs, host })
          : await insertSet(tx, { organizationId, name, region, kind: put.kind, host, nowMs });
        const before = set?.kind === "secret" ? await readValues(tx, options.masterKeys, set) : [];
        const values = new Map([...before, ...valuesOf(put)]);
        if (put.kind === "secret") requireHideable(values);
        await insertVersion(tx, options.masterKeys, { set: next, values, nowMs });
        await forgetOldVersions(tx, next);
        const action = set ? "secrets-changed" : "secrets-created";
        const details = { region, fields: [...valuesOf(put).keys()] };
        await audit(tx, organizationId, { action, name, actor, nowMs, details });
      });
      failpoint("secrets.stored.after");
      provisionSoon();
      return { region };
    },

    async delete(organizationId, name, actor) {
      await store.transaction(async (tx) => {
        const set = (await findSet({ db: tx }, organizationId, name)) ?? setNotFound();
        await removeSet(tx, set.id);
        await audit(tx, organizationId, { action: "secrets-deleted", name, actor, nowMs: clock.nowMs() });
      });
    },

    async deleteKey(organizationId, name, { fieldName, actor }) {
      const set = await findSet(store, organizationId, name);
      if (set?.kind !== "secret") throw new AppError("NOT_FOUND", { message: "Secret not found" });
      await store.transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const values = new Map(await readValues(tx, options.masterKeys, set));
        if (!values.delete(fieldName)) throw new AppError("NOT_FOUND", { message: "Secret not found" });
        const next = await advance(tx, set, { nowMs, host: null });
        await insertVersion(tx, options.masterKeys, { set: next, values, nowMs });
        await forgetOldVersions(tx, next);
        const details = { fields: [fieldName] };
        await audit(tx, organizationId, { action: "secrets-key-deleted", name, actor, nowMs, details });
      });
      provisionSoon();
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(provisioning);
    },
  };
}

function checkUpdate(set: SecretSetRow, put: SecretPut): void {
  if (set.kind === "imagePullSecret" && put.kind === "secret") throw imagePullIncomplete();
  if (set.kind === "secret" && put.kind === "imagePullSecret") {
    throw badRequest("Cannot update existing regular secrets to image pull secrets");
  }
  if (put.region !== undefined && put.region !== set.region) {
    throw badRequest(
      `Secret already exists in region '${set.region}'. Cannot change region to '${put.region}'.`,
    );
  }
}

async function chooseRegion(
  { store, regions }: SecretSetsOptions,
  organizationId: OrganizationId,
  wanted: string | undefined,
): Promise<string> {
  if (wanted === undefined) return (await readProperties(store.db, organizationId, regions)).defaultRegion;
  if (!regions.includes(wanted)) throw badRequest("Invalid region or organization does not have access");
  return wanted;
}

function valuesOf(put: SecretPut): ReadonlyMap<string, string> {
  return put.kind === "secret" ? put.values : new Map([[IMAGE_PULL_FIELD, put.value]]);
}

type NewSet = Pick<SecretSetRow, "name" | "region" | "kind" | "host"> & {
  organizationId: OrganizationId;
  nowMs: number;
};

async function insertSet(tx: Tx, { nowMs, ...set }: NewSet): Promise<SecretSetRow> {
  const row: SecretSetRow = {
    id: randomUUID(),
    ...set,
    status: "pending",
    errorMessage: null,
    currentVersion: 1,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
  const result = await tx
    .insertInto("secretSets")
    .values(row)
    .onConflict((conflict) => conflict.columns(["organizationId", "name"]).doNothing())
    .executeTakeFirst();
  if (result.numInsertedOrUpdatedRows !== 1n) throw modifiedConcurrently(set.name);
  return row;
}

/** Updates only the version that was read, so that a concurrent change is not overwritten. */
async function advance(
  tx: Tx,
  set: SecretSetRow,
  { nowMs, host }: { nowMs: number; host: string | null },
): Promise<SecretSetRow> {
  const currentVersion = set.currentVersion + 1;
  const changes = { currentVersion, host, status: "pending", errorMessage: null, updatedAt: nowMs } as const;
  const result = await tx
    .updateTable("secretSets")
    .set(changes)
    .where("id", "=", set.id)
    .where("currentVersion", "=", set.currentVersion)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw modifiedConcurrently(set.name);
  return { ...set, ...changes };
}

async function requireSet(
  from: Pick<Store, "db">,
  organizationId: OrganizationId,
  name: string,
): Promise<SecretSetRow> {
  return (await findSet(from, organizationId, name)) ?? setNotFound();
}

async function findSet(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  name: string,
): Promise<SecretSetRow | undefined> {
  return await db
    .selectFrom("secretSets")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .executeTakeFirst();
}

function toStatus(row: SecretSetRow): Pick<ListedSet, "region" | "status" | "errorMessage"> {
  const { region, status, errorMessage } = row;
  return errorMessage === null ? { region, status } : { region, status, errorMessage };
}

interface SetAudit {
  action: string;
  name: string;
  actor: string;
  nowMs: number;
  details?: Record<string, unknown>;
}

function audit(tx: Tx, organizationId: OrganizationId, { name, nowMs, ...entry }: SetAudit): Promise<void> {
  return writeAudit(tx, { organizationId, at: nowMs, target: `secrets:${name}`, ...entry });
}

function modifiedConcurrently(name: string): AppError {
  return new AppError("CONFLICT", {
    message: `Secret set '${name}' was modified concurrently. Please retry.`,
  });
}

function setNotFound(): never {
  throw new AppError("NOT_FOUND", { message: "Set not found" });
}
