import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Sessions that wait for their sockets are counted by caller too. */
export const pendingCallers: Migration = {
  version: 15,
  name: "pending callers",
  async up({ schema }) {
    await schema
      .alterTable("sessions")
      .addColumn("caller", sql`text`)
      .execute();
  },
};
