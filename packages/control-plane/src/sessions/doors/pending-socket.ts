import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../../auth/principal.ts";
import { DeploymentSpec } from "../../deployments/deployment-spec.ts";
import { asLeader } from "../../leader/leader.ts";
import { notFound } from "../../refusals.ts";
import type { AgentRow, SessionRow } from "../../store/schema.ts";
import type { World } from "../../world.ts";
import { earlierSession, rememberKey } from "../idempotency.ts";
import { requirePendingPlace } from "../pending-sessions.ts";
import { newSessionRow } from "../session-row.ts";
import { checkConcurrency } from "../start-session.ts";
import type { DoorRequest } from "./door.ts";

/** A new session that waits for its socket, or the one an earlier request with the same key has made. */
export async function pendingFor(
  world: World,
  request: DoorRequest["session"],
  agent: AgentRow,
): Promise<{ row: SessionRow; isRepeated: boolean }> {
  return asLeader(world, async (tx) => {
    const earlier = await earlierSession(tx, request);
    if (earlier) return { row: earlier, isRepeated: true };
    await checkConcurrency(tx, request); // and again when the socket comes
    const { store, pendingLimits: limits } = world;
    await requirePendingPlace(tx, { store, agent, apiKeyId: request.apiKeyId, limits });
    const nowMs = world.clock.nowMs();
    const session = {
      ...newSessionRow({ request, agent, sessionId: world.newId(), nowMs }),
      body: JSON.stringify(request.body ?? {}),
    };
    await tx.insertInto("sessions").values(session).execute();
    await rememberKey(tx, request, session.id, nowMs);
    return { row: session, isRepeated: false };
  });
}

export interface SocketAgent {
  agent: AgentRow;
  organizationName: string;
  websocketAuth: DeploymentSpec["websocketAuth"];
  spec: DeploymentSpec;
}

/** All in one question: two of these are on the way of every start. */
export async function findForSocket(
  { store }: World,
  wanted: { agentName: string } & ({ organizationId: OrganizationId } | { organizationName: string }),
): Promise<SocketAgent> {
  const agents = store.db
    .selectFrom("agents")
    .innerJoin("organizations", "organizations.id", "agents.organizationId")
    .leftJoin("deployments", (join) =>
      join.onRef("deployments.agentId", "=", "agents.id").on("deployments.phase", "=", "Active"),
    )
    .selectAll("agents")
    .select(["organizations.name as organizationName", "deployments.spec"])
    .where("agents.name", "=", wanted.agentName)
    .where("agents.state", "=", "live");
  const own =
    "organizationId" in wanted
      ? agents.where("organizations.id", "=", wanted.organizationId)
      : agents.where("organizations.name", "=", wanted.organizationName);
  const row = await own.executeTakeFirst();
  if (!row) throw notFound("Service not found");
  const { organizationName, spec, ...agent } = row;
  if (spec === null) throw new AppError("AGENT-1001");
  const deployed = DeploymentSpec.parse(JSON.parse(spec));
  return { agent, organizationName, websocketAuth: deployed.websocketAuth, spec: deployed };
}
