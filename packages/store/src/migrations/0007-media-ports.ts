import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** The UDP port of an instance. */
export const mediaPorts: Migration = {
  version: 7,
  name: "media ports",
  async up({ schema }, dialect) {
    const port = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    await schema.alterTable("instances").addColumn("mediaPort", port).execute();
    await schema
      .createIndex("instancesMediaPort")
      .unique()
      .on("instances")
      .column("mediaPort")
      .where(sql<boolean>`media_port is not null and state not in ('stopped', 'lost')`)
      .execute();
  },
};
