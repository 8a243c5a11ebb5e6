import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import type { Store, Tx } from "@vocalhost/store/store";

/** More than two for each agent that an organisation may have; a loop that makes sets ends here instead of on a full disk. */
export const SETS_MAX = 500;

/** For one more set. */
export async function requirePlace(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
): Promise<void> {
  // Two creations at once must not both see a place for one.
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
