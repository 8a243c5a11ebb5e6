import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Lets a month's usage be read page by page, in the order in which its sessions began. */
export const usageInOrder: Migration = {
  version: 12,
  name: "usage in order",
  async up(tx, dialect) {
    const { schema } = tx;
    const ms = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    await schema
      .alterTable("usage")
      .addColumn("startedAt", ms, (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`update usage set started_at = coalesce(
      (select bound_at from sessions where sessions.id = usage.session_id), 0)`.execute(tx);
    await schema.dropIndex("usageOrganization").execute();
    await schema
      .createIndex("usageInOrder")
      .on("usage")
      .columns(["organizationId", "period", "startedAt", "sessionId"])
      .execute();
  },
};
