import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Public keys can be read again; those made earlier cannot. */
export const publicKeys: Migration = {
  version: 9,
  name: "public keys",
  async up({ schema }) {
    await schema
      .alterTable("apiKeys")
      .addColumn("publicValue", sql`text`)
      .execute();
  },
};
