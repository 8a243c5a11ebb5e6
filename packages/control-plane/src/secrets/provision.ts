import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { Log } from "@vocalhost/base/log";
import type { SecretSetRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import type { MasterKeys } from "./master-keys.ts";
import { readValues } from "./secret-values.ts";

export interface ProvisionOptions {
  store: Store;
  clock: Clock;
  masterKeys: MasterKeys;
  failpoint: Failpoint;
  log: Log;
}

/** Marks every pending set as ready after decrypting its values; must also run at every start. */
export async function provisionSecrets(options: ProvisionOptions): Promise<void> {
  const pending = await options.store.db
    .selectFrom("secretSets")
    .selectAll()
    .where("status", "=", "pending")
    .execute();
  for (const set of pending) await provision(options, set);
}

async function provision(options: ProvisionOptions, set: SecretSetRow): Promise<void> {
  const { store, clock, failpoint } = options;
  const errorMessage = await problemOf(options, set);
  failpoint("secrets.flipped.before");
  await store.db
    .updateTable("secretSets")
    .set({
      status: errorMessage === null ? "ready" : "failed",
      errorMessage,
      updatedAt: clock.nowMs(),
    })
    .where("id", "=", set.id)
    .where("currentVersion", "=", set.currentVersion)
    .where("status", "=", "pending")
    .execute();
  failpoint("secrets.flipped.after");
}

async function problemOf(
  { store, masterKeys, log }: ProvisionOptions,
  set: SecretSetRow,
): Promise<string | null> {
  try {
    await readValues(store.db, masterKeys, set);
    return null;
  } catch (error) {
    log.error({ err: error, setId: set.id }, "secret set cannot be read back");
    return "The values cannot be read back. Delete the set and create it again.";
  }
}
