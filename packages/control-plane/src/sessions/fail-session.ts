import { asLeader } from "@vocalhost/store/leadership/leader";
import type { SessionRow } from "@vocalhost/store/schema";
import type { World } from "./world.ts";
import { moveSession } from "./session-state.ts";

/** A start that came to nothing: it bills nothing, and its instance is thrown away. */
export async function failSession(
  session: Pick<SessionRow, "id" | "state" | "version">,
  reason: string,
  world: World,
): Promise<void> {
  const nowMs = world.clock.nowMs();
  await asLeader(world, (tx) =>
    moveSession(tx, session, { to: "failed", changes: { endedAt: nowMs, endReason: reason, body: null } }),
  );
}
