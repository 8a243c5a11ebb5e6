import { AppError } from "@vocalhost/protocol";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { World } from "./world.ts";
import { expireSession } from "./pending-sessions.ts";
import { isTerminal, moveSession } from "./session-state.ts";

export interface StopRequest {
  organizationId: OrganizationId;
  /** The agent's ids in all its regions. */
  agentIds: readonly string[];
  sessionId: string;
  actor: string;
}

/** Writes down that the session is to end. The reconciler stops it, and tries until it has. */
export async function stopSession(world: World, request: StopRequest): Promise<void> {
  const { organizationId, sessionId } = request;
  world.failpoint("stop.flagged.before");
  await asLeader(world, async (tx) => {
    const session = await tx
      .selectFrom("sessions")
      .selectAll()
      .where("id", "=", sessionId)
      .where("organizationId", "=", organizationId)
      .where("agentId", "in", request.agentIds)
      .executeTakeFirst();
    if (!session || isTerminal(session.state))
      throw new AppError("NOT_FOUND", { message: "Session not found" });
    const nowMs = world.clock.nowMs();
    const changes = {
      stopRequestedAt: session.stopRequestedAt ?? nowMs,
      stopReason: session.stopReason ?? "stopped",
    };
    if (session.state === "pending") await expireSession(tx, session, { reason: "stopped", nowMs });
    else if (session.state === "active") await moveSession(tx, session, { to: "stopping", changes });
    else
      await tx
        .updateTable("sessions")
        .set({ ...changes, version: session.version + 1 })
        .where("id", "=", session.id)
        .execute();
    await writeAudit(tx, {
      organizationId,
      at: nowMs,
      actor: request.actor,
      action: "session-stopped",
      target: `session:${sessionId}`,
    });
  });
  world.failpoint("stop.flagged.after");
}
