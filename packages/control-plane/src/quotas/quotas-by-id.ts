import type { Db } from "../store/store.ts";
import type { Quotas, QuotasOf } from "./quotas.ts";

/** What an organisation may have, by its id. Names are given once and for all, so each is read once. */
export function createQuotasById({ db, quotasOf }: { db: Db; quotasOf: QuotasOf }) {
  const names = new Map<string, string>();
  return async (organizationId: string): Promise<Quotas> => {
    const name = names.get(organizationId) ?? (await readName(db, organizationId));
    names.set(organizationId, name);
    return quotasOf(name);
  };
}

async function readName(db: Db, organizationId: string): Promise<string> {
  const { name } = await db
    .selectFrom("organizations")
    .select("name")
    .where("id", "=", organizationId)
    .executeTakeFirstOrThrow();
  return name;
}
