import { sql } from "kysely";
import type { Migration } from "./migration.ts";

/** Adds the rooms that end with their session, for all providers. */
export const sessionRooms: Migration = {
  version: 6,
  name: "session rooms",
  async up({ schema }, dialect) {
    const text = dialect === "sqlite" ? sql`text` : sql`text collate "C"`;
    await schema
      .createTable("sessionRooms")
      .addColumn("sessionId", text, (column) => column.primaryKey())
      .addColumn("provider", text, (column) => column.notNull())
      .addColumn("roomName", text, (column) => column.notNull())
      .addColumn("callId", text)
      .addColumn("callDomain", text)
      .execute();
    await schema.createIndex("sessionRoomsName").on("sessionRooms").column("roomName").execute();
  },
};
