import type { Tx } from "@vocalhost/store/store";

/** Deletes the set with every version of its values. */
export async function removeSet(tx: Tx, setId: string): Promise<void> {
  await tx.deleteFrom("secretValues").where("setId", "=", setId).execute();
  await tx.deleteFrom("secretVersions").where("setId", "=", setId).execute();
  await tx.deleteFrom("secretSets").where("id", "=", setId).execute();
}
