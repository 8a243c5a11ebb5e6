import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** A usage entry that was refused waits by itself, and the others go on. */
export const exportsAgain: Migration = {
  version: 13,
  name: "exports again",
  async up({ schema }, dialect) {
    const integer = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    for (const name of ["refusals", "againAt"])
      await schema
        .alterTable("outbox")
        .addColumn(name, integer, (column) => column.notNull().defaultTo(0))
        .execute();
    await schema
      .createIndex("outboxUnsent")
      .on("outbox")
      .columns(["againAt", "createdAt", "id"])
      .where(sql<boolean>`sent_at is null and held_at is null`)
      .execute();
  },
};
