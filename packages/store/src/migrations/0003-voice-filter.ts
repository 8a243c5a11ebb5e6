import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Adds the state of a session's voice filter. */
export const voiceFilter: Migration = {
  version: 3,
  name: "voice filter",
  async up({ schema }, dialect) {
    const count = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    const text = dialect === "sqlite" ? sql`text` : sql`text collate "C"`;
    await schema.alterTable("sessions").addColumn("filterState", text).execute();
    await schema.alterTable("sessions").addColumn("filterFramesIn", count).execute();
    await schema.alterTable("sessions").addColumn("filterFramesFiltered", count).execute();
  },
};
