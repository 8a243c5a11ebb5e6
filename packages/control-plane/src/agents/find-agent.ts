import type { OrganizationId } from "../auth/principal.ts";
import { notFound } from "../refusals.ts";
import type { AgentRow } from "../store/schema.ts";
import type { Db, Store, Tx } from "../store/store.ts";

/** An agent that is not deleted yet. A foreign one is like none. */
export async function findAgent(
  db: Db,
  organizationId: OrganizationId,
  { name, message = "Not found" }: { name: string; message?: string },
): Promise<AgentRow> {
  const row = await query(db, organizationId, name).executeTakeFirst();
  if (!row) throw notFound(message);
  return row;
}

/** One that takes sessions. */
export async function findLiveAgent(db: Db, organizationId: OrganizationId, name: string): Promise<AgentRow> {
  const row = await query(db, organizationId, name).where("state", "=", "live").executeTakeFirst();
  if (!row) throw notFound("Service not found");
  return row;
}

/** One that is not deleted yet, held against others until the transaction is over. */
export async function lockAgent(
  { store, tx }: { store: Store; tx: Tx },
  organizationId: OrganizationId,
  { name, message = "Not found" }: { name: string; message?: string },
): Promise<AgentRow> {
  const row = await store.forUpdate(query(tx, organizationId, name)).executeTakeFirst();
  if (!row) throw notFound(message);
  return row;
}

function query(db: Db, organizationId: OrganizationId, name: string) {
  return db
    .selectFrom("agents")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("name", "=", name)
    .where("state", "<>", "deleted");
}
