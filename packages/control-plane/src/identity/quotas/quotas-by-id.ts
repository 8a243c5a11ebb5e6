import { readOrganizationName } from "@vocalhost/store/organization-name";
import type { Db } from "@vocalhost/store/store";
import type { Quotas, QuotasOf } from "./quotas.ts";

/** Returns an organisation's quotas by its id. Names never change, so each is read once. */
export function createQuotasById({ db, quotasOf }: { db: Db; quotasOf: QuotasOf }) {
  const names = new Map<string, string>();
  return async (organizationId: string): Promise<Quotas> => {
    const name = names.get(organizationId) ?? (await readOrganizationName(db, organizationId));
    names.set(organizationId, name);
    return quotasOf(name);
  };
}
