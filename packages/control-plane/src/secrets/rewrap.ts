import { ConfigError } from "@vocalhost/base/config-error";
import type { Store, Tx } from "@vocalhost/store/store";
import { openDataKey, rewrapDataKey } from "./encryption.ts";
import type { MasterKeys } from "./master-keys.ts";

/** Returns the ids of the master keys that encrypt anything in the store. */
export async function neededMasterKeys({ db }: Pick<Store, "db">): Promise<string[]> {
  const used = await db.selectFrom("secretVersions").select("masterKeyId").distinct().execute();
  return used.map(({ masterKeyId }) => masterKeyId);
}

/**
 * Throws if the store needs a master key that is missing or differs under the same id. Starting without it would lose
 * secrets.
 */
export async function requireKnownMasterKeys(
  store: Store,
  masterKeys: MasterKeys,
  where = "VOCALHOST_MASTER_KEYS",
): Promise<void> {
  const needed = await neededMasterKeys(store);
  const missing = needed.filter((id) => !masterKeys.some((key) => key.id === id));
  if (missing.length > 0) throw missingKeys(missing, where);
  for (const id of needed)
    if (!(await opens(store, masterKeys, id)))
      throw new ConfigError(
        `The master key ${id} in ${where} is not the one that secrets were sealed with. Put that one back, for example from a backup.`,
      );
}

export function missingKeys(ids: readonly string[], where: string): ConfigError {
  return new ConfigError(
    `Secrets need master keys that are not configured: ${ids.join(", ")} should be in ${where}. ` +
      "Put it back, for example from a backup; without it those secrets cannot be read.",
  );
}

/** Tries the newest value: an earlier key of the same id may be lost for good. */
async function opens({ db }: Store, masterKeys: MasterKeys, id: string): Promise<boolean> {
  const row = await db
    .selectFrom("secretVersions")
    .innerJoin("secretSets", "secretSets.id", "secretVersions.setId")
    .selectAll("secretVersions")
    .select("secretSets.organizationId")
    .where("secretVersions.masterKeyId", "=", id)
    .orderBy("secretVersions.createdAt", "desc")
    .limit(1)
    .executeTakeFirst();
  try {
    if (row) openDataKey(masterKeys, row, row);
    return true;
  } catch {
    return false;
  }
}

/**
 * Encrypts every data key with the first master key, after which the others can be removed. Returns how many it
 * changed.
 */
export async function rewrapSecrets(
  store: Store,
  masterKeys: MasterKeys,
  progress: (moved: number, of: number) => void = () => undefined,
): Promise<number> {
  const old = await store.db
    .selectFrom("secretVersions")
    .innerJoin("secretSets", "secretSets.id", "secretVersions.setId")
    .select(["secretVersions.setId", "secretVersions.version", "secretSets.organizationId"])
    .where("secretVersions.masterKeyId", "!=", masterKeys[0].id)
    .execute();
  let moved = 0;
  for (const place of old) {
    if (await store.transaction((tx) => rewrapOne(tx, masterKeys, place))) moved += 1;
    progress(moved, old.length);
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
