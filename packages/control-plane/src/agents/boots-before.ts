import { dealBoots } from "../pools/deal-boots.ts";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Db } from "@vocalhost/store/store";

const LOOKED_AT_MAX = 1_000; // beyond that an exact number adds nothing

/** Returns how many instances boot before each one that waits for its turn in the region. */
export async function bootsBefore(
  db: Db,
  { region }: Pick<AgentRow, "region">,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("instances")
    .innerJoin("agents", "agents.id", "instances.agentId")
    .select(["instances.id", "instances.organizationId", "instances.agentId", "instances.sessionId"])
    .select(["instances.createdAt", "instances.state"])
    .where("instances.state", "in", ["requested", "starting"])
    .where("agents.region", "=", region)
    .orderBy("instances.createdAt")
    .limit(LOOKED_AT_MAX)
    .execute();
  const { requested = [], starting: underWay = [] } = Object.groupBy(rows, ({ state }) => state);
  const waiting = requested.map((instance) => ({ instance }));
  const turns = dealBoots(waiting, { underWay, places: waiting.length });
  return new Map(turns.map(({ instance }, before) => [instance.id, before]));
}
