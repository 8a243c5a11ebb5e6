import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** The hash of an upload's bytes is told to callers; whether files were built before is known by that of the files. */
export const buildContents: Migration = {
  version: 10,
  name: "build contents",
  async up(tx) {
    await tx.schema
      .alterTable("builds")
      .addColumn("contentHash", sql`text`)
      .execute();
    await tx
      .updateTable("builds")
      .set(({ ref }) => ({ contentHash: ref("contextHash") }))
      .execute();
    await tx.schema
      .createIndex("buildsContent")
      .on("builds")
      .columns(["organizationId", "contentHash", "region", "dockerfilePath"])
      .execute();
  },
};
