import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** How long the controller saw a session last, beside what its bot told. */
export const observedLengths: Migration = {
  version: 4,
  name: "observed lengths",
  async up({ schema }, dialect) {
    const ms = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    await schema.alterTable("sessions").addColumn("observedMs", ms).execute();
    await schema.alterTable("sessions").addColumn("lengthCorrectionMs", ms).execute();
  },
};
