import { readOrganizationName } from "../store/organization-name.ts";
import type { Db } from "../store/store.ts";
import type { Quotas, QuotasOf } from "./quotas.ts";

/** What an organisation may have, by its id. Names are given once and for all, so each is read once. */
export function createQuotasById({ db, quotasOf }: { db: Db; quotasOf: QuotasOf }) {
  const names = new Map<string, string>();
  return async (organizationId: string): Promise<Quotas> => {
    const name = names.get(organizationId) ?? (await readOrganizationName(db, organizationId));
    names.set(organizationId, name);
    return quotasOf(name);
  };
}
