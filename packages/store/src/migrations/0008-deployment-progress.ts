import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** What is being done for a deployment that is not there yet. */
export const deploymentProgress: Migration = {
  version: 8,
  name: "deployment progress",
  async up({ schema }) {
    await schema
      .alterTable("deployments")
      .addColumn("progressText", sql`text`)
      .execute();
  },
};
