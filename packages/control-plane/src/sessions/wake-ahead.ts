import type { AgentRow } from "@vocalhost/store/schema";
import type { World } from "./world.ts";

/**
 * A client has asked for a session and comes with its socket next. If the instance it will get rests, it can wake up
 * meanwhile. Hastens, and is never needed: whoever binds a session wakes what it finds.
 */
export async function wakeAhead(
  { store, driver, keptAwake, log }: Pick<World, "store" | "driver" | "keptAwake" | "log">,
  agent: Pick<AgentRow, "id">,
): Promise<void> {
  if (keptAwake === undefined) return;
  try {
    const next = await store.db
      .selectFrom("instances")
      .select("id")
      .where("agentId", "=", agent.id)
      .where("state", "=", "ready")
      .where("sessionId", "is", null)
      .orderBy("createdAt") // as they are claimed
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    if (next) await driver.wake?.(next.id);
  } catch (error) {
    log.debug({ err: error, agentId: agent.id }, "no instance was woken ahead");
  }
}
