import type { Db } from "./store.ts";

export async function readOrganizationName(db: Db, organizationId: string): Promise<string> {
  const { name } = await db
    .selectFrom("organizations")
    .select("name")
    .where("id", "=", organizationId)
    .executeTakeFirstOrThrow();
  return name;
}
