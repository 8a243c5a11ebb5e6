import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import type { Store, Tx } from "@vocalhost/store/store";

/** More than two for each agent an organisation may have; a faulty loop stops here before the disk is full. */
export const SETS_MAX = 500;

/** Throws if there is no room for one more set. */
export async function requirePlace(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
): Promise<void> {
  // The lock keeps two concurrent creations from taking the same free place.
  const organization = tx.selectFrom("organizations").select("id").where("id", "=", organizationId);
  await store.forUpdate(organization).execute();
  const { count } = await tx
    .selectFrom("secretSets")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .executeTakeFirstOrThrow();
  if (count < SETS_MAX) return;
  throw new AppError("QUOTA_EXCEEDED", {
    message: `An organisation can have ${SETS_MAX} secret sets. Delete one first.`,
  });
}
