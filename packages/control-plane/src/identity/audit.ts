import { v7 as timeOrderedId } from "uuid";
import type { Tx } from "@vocalhost/store/store";
import type { OrganizationId } from "./principal.ts";

export interface AuditEntry {
  organizationId: OrganizationId;
  at: number;
  /** `key:{id}`, `user:{id}` or `system`. */
  actor: string;
  /** `<noun>-<action>`: `key-revoked`. */
  action: string;
  target: string;
  /** Must not contain secret values or keys. */
  details?: Record<string, unknown>;
}

/**
 * Writes the entry in the transaction of the change it records, so that both are stored or neither. Ids ascend, so
 * entries of one millisecond keep their order.
 */
export async function writeAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const { details = {}, ...rest } = entry;
  await tx
    .insertInto("audit")
    .values({ id: timeOrderedId(), ...rest, details: JSON.stringify(details) })
    .execute();
}
