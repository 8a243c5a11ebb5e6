import { auditOperations, type AuditQuery } from "@vocalhost/protocol";
import { sql } from "kysely";
import type { OrganizationId } from "../identity/principal.ts";
import { toTime } from "@vocalhost/base/to-time";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleAudit({ store }: ApiPorts): Handled[] {
  return handle(auditOperations)({
    audit: async ({ organizationId, query }) => {
      const rows = matching(store, organizationId, query);
      const entries = await rows
        .selectAll()
        .orderBy("at", "desc")
        .orderBy("id", "desc")
        .limit(query.limit)
        .offset(query.offset)
        .execute();
      const { total } = await rows
        .select((select) => select.fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      return {
        total,
        entries: entries.map(({ id, at, actor, action, target, details }) => ({
          id,
          at: toTime(at),
          actor,
          action,
          target,
          details: JSON.parse(details) as unknown,
        })),
      };
    },
  });
}

function matching({ search }: ApiPorts["store"], organizationId: OrganizationId, query: AuditQuery) {
  let rows = search.selectFrom("audit").where("organizationId", "=", organizationId);
  if (query.action !== undefined) rows = rows.where("action", "=", query.action);
  if (query.actor !== undefined) rows = rows.where("actor", "=", query.actor);
  if (query.startTime !== undefined) rows = rows.where("at", ">=", query.startTime * 1000);
  if (query.endTime !== undefined) rows = rows.where("at", "<", query.endTime * 1000);
  if (query.text !== undefined && query.text !== "") {
    const pattern = `%${query.text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
    rows = rows.where(
      sql<boolean>`(lower(target) like ${pattern} escape '\\' or lower(details) like ${pattern} escape '\\')`,
    );
  }
  return rows;
}
