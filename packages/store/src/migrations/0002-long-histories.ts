import type { Migration } from "./migration.ts";

/** Frequent lookups must not cost more with every session that ever was. */
export const longHistories: Migration = {
  version: 2,
  name: "long histories",
  async up({ schema }) {
    await schema.dropIndex("sessionsAgent").execute();
    await schema
      .createIndex("sessionsNewest")
      .on("sessions")
      .columns(["organizationId", "agentId", "createdAt", "id"])
      .execute();
    await schema
      .createIndex("sessionsOpen")
      .on("sessions")
      .columns(["organizationId", "state", "agentId", "createdAt"])
      .execute();
    await schema.createIndex("sessionsBound").on("sessions").column("boundAt").execute();
  },
};
