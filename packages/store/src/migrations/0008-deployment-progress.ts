import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Adds the progress of a deployment that is being prepared. */
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
