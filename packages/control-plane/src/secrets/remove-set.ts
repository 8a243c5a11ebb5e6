import type { Tx } from "@vocalhost/store/store";

/** With every version of every value: nothing of it can be read again. */
export async function removeSet(tx: Tx, setId: string): Promise<void> {
  await tx.deleteFrom("secretValues").where("setId", "=", setId).execute();
  await tx.deleteFrom("secretVersions").where("setId", "=", setId).execute();
  await tx.deleteFrom("secretSets").where("id", "=", setId).execute();
}
