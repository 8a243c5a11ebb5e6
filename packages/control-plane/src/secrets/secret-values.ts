import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import type { SecretSetRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import { createDataKey, openDataKey } from "./encryption.ts";
import type { MasterKeys } from "./master-keys.ts";

/** The field that holds the one value of an image-pull secret. */
export const IMAGE_PULL_FIELD = "credential";

/** Encrypts the values with a data key of their own. */
export async function insertVersion(
  tx: Tx,
  masterKeys: MasterKeys,
  { set, values, nowMs }: { set: SecretSetRow; values: ReadonlyMap<string, string>; nowMs: number },
): Promise<void> {
  const version = set.currentVersion;
  const place = { organizationId: set.organizationId, setId: set.id, version };
  const { dataKey, wrapped } = createDataKey(masterKeys, place);
  await tx
    .insertInto("secretVersions")
    .values({ setId: set.id, version, ...wrapped, createdAt: nowMs })
    .execute();
  const rows = [...values].map(([fieldName, value]) => ({
    setId: set.id,
    version,
    fieldName,
    ciphertext: dataKey.encrypt(fieldName, value),
  }));
  if (rows.length > 0) await tx.insertInto("secretValues").values(rows).execute();
}

/** Returns the values of the set's current version. */
export async function readValues(
  db: Db,
  masterKeys: MasterKeys,
  set: Pick<SecretSetRow, "id" | "organizationId" | "currentVersion">,
): Promise<[string, string][]> {
  const version = set.currentVersion;
  const wrapped = await db
    .selectFrom("secretVersions")
    .selectAll()
    .where("setId", "=", set.id)
    .where("version", "=", version)
    .executeTakeFirst();
  if (!wrapped) throw new AppError("NOT_FOUND", { message: "Set not found" });
  const place = { organizationId: set.organizationId, setId: set.id, version };
  const dataKey = openDataKey(masterKeys, wrapped, place);
  const rows = await db
    .selectFrom("secretValues")
    .select(["fieldName", "ciphertext"])
    .where("setId", "=", set.id)
    .where("version", "=", version)
    .orderBy("fieldName")
    .execute();
  return rows.map((row) => [row.fieldName, dataKey.decrypt(row.fieldName, row.ciphertext)]);
}

export async function readFieldNames(
  db: Db,
  { setId, version }: { setId: string; version: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("secretValues")
    .select("fieldName")
    .where("setId", "=", setId)
    .where("version", "=", version)
    .orderBy("fieldName")
    .execute();
  return rows.map((row) => row.fieldName);
}

export interface SecretsContext {
  db: Db;
  masterKeys: MasterKeys;
}

/** Returns an instance's environment: the values its deployment pinned. */
export async function environmentOf(
  { db, masterKeys }: SecretsContext,
  organizationId: OrganizationId,
  { setName, version }: { setName: string; version: number },
): Promise<Record<string, string>> {
  const set = await requireSet(db, organizationId, { setName, kind: "secret" });
  return Object.fromEntries(await readValues(db, masterKeys, { ...set, currentVersion: version }));
}

export interface ImagePullCredential {
  host: string;
  username: string;
  token: string;
}

export async function imagePullCredentialOf(
  { db, masterKeys }: SecretsContext,
  organizationId: OrganizationId,
  setName: string,
): Promise<ImagePullCredential> {
  const set = await requireSet(db, organizationId, { setName, kind: "imagePullSecret" });
  const values = new Map(await readValues(db, masterKeys, set));
  const [username = "", ...rest] = Buffer.from(values.get(IMAGE_PULL_FIELD) ?? "", "base64")
    .toString()
    .split(":");
  return { host: set.host ?? "", username, token: rest.join(":") };
}

async function requireSet(
  db: Db,
  organizationId: OrganizationId,
  { setName, kind }: { setName: string; kind: SecretSetRow["kind"] },
): Promise<SecretSetRow> {
  const set = await db
    .selectFrom("secretSets")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("name", "=", setName)
    .where("kind", "=", kind)
    .executeTakeFirst();
  if (!set) throw new AppError("NOT_FOUND", { message: "Set not found" });
  return set;
}
