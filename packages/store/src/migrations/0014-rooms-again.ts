import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** A room that could not be closed waits by itself, and the others go on. */
export const roomsAgain: Migration = {
  version: 14,
  name: "rooms again",
  async up({ schema }, dialect) {
    const ms = dialect === "sqlite" ? sql`integer` : sql`bigint`;
    await schema
      .alterTable("sessionRooms")
      .addColumn("againAt", ms, (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .createIndex("sessionRoomsAgain")
      .on("sessionRooms")
      .columns(["provider", "againAt"])
      .execute();
  },
};
