import { LIVE_INSTANCE_STATES } from "../../pools/instance-state.ts";
import type { Db } from "@vocalhost/store/store";

/**
 * Selects the agents whose deployments may still run: all but those deleted before this time without an instance
 * left.
 */
export function keptAgents(db: Db, deletedBeforeMs: number) {
  return db
    .selectFrom("agents")
    .select("agents.id")
    .where((is) =>
      is.or([
        is("agents.state", "<>", "deleted"),
        is("agents.deletedAt", "is", null),
        is("agents.deletedAt", ">=", deletedBeforeMs),
        is.exists(
          is
            .selectFrom("instances")
            .select("instances.id")
            .whereRef("instances.agentId", "=", "agents.id")
            .where("instances.state", "in", LIVE_INSTANCE_STATES),
        ),
      ]),
    );
}
