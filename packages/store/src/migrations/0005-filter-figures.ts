import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Adds the figures of a session's voice filter. */
export const filterFigures: Migration = {
  version: 5,
  name: "filter figures",
  async up({ schema }, dialect) {
    const text = dialect === "sqlite" ? sql`text` : sql`text collate "C"`;
    await schema.alterTable("sessions").addColumn("filterFigures", text).execute();
  },
};
