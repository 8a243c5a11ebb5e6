import type { Db } from "@vocalhost/store/store";

const MIB = 1024 ** 2;

/** Counts agents that are not deleted. */
export async function countAgents(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom("agents")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .where("state", "<>", "deleted")
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts the instances that agents keep even without calls. */
export async function countKeptInstances(db: Db, organizationId: string): Promise<number> {
  const { sum } = await db
    .selectFrom("agents")
    .select(({ fn }) => fn.sum<number | null>("minAgents").as("sum"))
    .where("organizationId", "=", organizationId)
    .where("state", "=", "live")
    .executeTakeFirstOrThrow();
  return sum ?? 0;
}

/** Joins through the agents: instances have no index by organisation, and old rows are many. */
export async function countInstances(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom("agents")
    .innerJoin("instances", "instances.agentId", "agents.id")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("agents.organizationId", "=", organizationId)
    .where("agents.state", "<>", "deleted")
    .where("instances.state", "in", ["requested", "starting", "ready", "busy", "draining"])
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts builds that wait or run. */
export async function countBuilds(db: Db, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom("builds")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organizationId", "=", organizationId)
    .where("status", "in", ["pending", "building"])
    .executeTakeFirstOrThrow();
  return count;
}

export async function countDiskMib(db: Db, organizationId: string): Promise<number> {
  const uploads = await db
    .selectFrom("uploads")
    .select(({ fn }) => fn.sum<number | null>("sizeBytes").as("bytes"))
    .where("organizationId", "=", organizationId)
    .executeTakeFirstOrThrow();
  const builds = await db
    .selectFrom("builds")
    .select(({ fn }) => fn.sum<number | null>("imageSizeBytes").as("bytes"))
    .where("organizationId", "=", organizationId)
    .executeTakeFirstOrThrow();
  return ((uploads.bytes ?? 0) + (builds.bytes ?? 0)) / MIB;
}
