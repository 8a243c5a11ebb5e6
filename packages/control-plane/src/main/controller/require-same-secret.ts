import { ConfigError } from "@vocalhost/base/config-error";
import type { Db, Store } from "@vocalhost/store/store";
import type { ServiceSecrets } from "./service-secrets.ts";

const SETTING = "secret-mark";

/** Stores a mark of the leader's secret, so that standbys can compare theirs. */
export async function markSecret(
  store: Store,
  { secretMark }: Pick<ServiceSecrets, "secretMark">,
): Promise<void> {
  await store.transaction((tx) =>
    tx
      .insertInto("settings")
      .values({ name: SETTING, value: secretMark })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: secretMark }))
      .execute(),
  );
}

/** Throws on a different secret: after taking over, the standby could neither talk to instances nor read tokens. */
export async function requireSameSecret(
  db: Db,
  { secretMark }: Pick<ServiceSecrets, "secretMark">,
): Promise<void> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", SETTING).executeTakeFirst();
  if (row === undefined || row.value === secretMark) return;
  throw new ConfigError(
    "Another controller leads, and signs with another secret. Give all of them the same VOCALHOST_SECRET; " +
      "without that setting it is in the file service-secret of the leader's data folder.",
  );
}
