import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** One name may be an agent in each of several regions; sessions say in which they are, and why. */
export const agentsInRegions: Migration = {
  version: 11,
  name: "agents in regions",
  async up({ schema }, dialect) {
    await schema.dropIndex("agentsName").execute();
    await schema
      .createIndex("agentsNameRegion")
      .unique()
      .on("agents")
      .columns(["organizationId", "name", "region"])
      .where(sql.ref("state"), "<>", "deleted")
      .execute();
    const integer = dialect === "postgres" ? sql`bigint` : sql`integer`;
    const columns = [
      ["region", sql`text`],
      ["regionReason", sql`text`],
      ["regionAsked", sql`text`],
      ["staysInRegion", integer],
    ] as const;
    for (const [name, type] of columns) await schema.alterTable("sessions").addColumn(name, type).execute();
  },
};
