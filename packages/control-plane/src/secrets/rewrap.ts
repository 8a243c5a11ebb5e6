import { ConfigError } from "../config.ts";
import type { Store, Tx } from "../store/store.ts";
import { rewrapDataKey } from "./encryption.ts";
import type { MasterKeys } from "./master-keys.ts";

/** Throws if something in the store was sealed by a master key that is not configured: better no start than no secrets. */
export async function requireKnownMasterKeys(store: Store, masterKeys: MasterKeys): Promise<void> {
  const used = await store.db.selectFrom("secretVersions").select("masterKeyId").distinct().execute();
  const known = new Set(masterKeys.map((key) => key.id));
  const missing = used.map((row) => row.masterKeyId).filter((id) => !known.has(id));
  if (missing.length > 0)
    throw new ConfigError(`Secrets need master keys that are not configured: ${missing.join(", ")}`);
}

/** Moves every data key to the first master key, after which the others may go. Answers how many it moved. */
export async function rewrapSecrets(store: Store, masterKeys: MasterKeys): Promise<number> {
  const old = await store.db
    .selectFrom("secretVersions")
    .innerJoin("secretSets", "secretSets.id", "secretVersions.setId")
    .select(["secretVersions.setId", "secretVersions.version", "secretSets.organizationId"])
    .where("secretVersions.masterKeyId", "!=", masterKeys[0].id)
    .execute();
  let moved = 0;
  for (const place of old) {
    if (await store.transaction((tx) => rewrapOne(tx, masterKeys, place))) moved += 1;
  }
  return moved;
}

async function rewrapOne(
  tx: Tx,
  masterKeys: MasterKeys,
  place: { setId: string; version: number; organizationId: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("secretVersions")
    .selectAll()
    .where("setId", "=", place.setId)
    .where("version", "=", place.version)
    .executeTakeFirst();
  if (!row) return false;
  const result = await tx
    .updateTable("secretVersions")
    .set(rewrapDataKey(masterKeys, row, place))
    .where("setId", "=", place.setId)
    .where("version", "=", place.version)
    .where("masterKeyId", "=", row.masterKeyId)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
