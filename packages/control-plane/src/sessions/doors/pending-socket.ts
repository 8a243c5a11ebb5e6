import { AppError } from "@vocalhost/protocol";
import { ownFirst } from "../../agents/find-agent.ts";
import type { OrganizationId } from "../../auth/principal.ts";
import { DeploymentSpec } from "../../deployments/deployment-spec.ts";
import { asLeader } from "../../leader/leader.ts";
import { notFound } from "../../refusals.ts";
import type { AgentRow, SessionRow } from "../../store/schema.ts";
import type { World } from "../../world.ts";
import { reasonFor, regionsToTry, type RegionPreference } from "../choose-region.ts";
import { earlierSession, rememberKey } from "../idempotency.ts";
import { requirePendingPlace } from "../pending-sessions.ts";
import { newSessionRow } from "../session-row.ts";
import { checkConcurrency, regionView } from "../start-session.ts";
import type { DoorRequest } from "./door.ts";

/** A new session that waits for its socket, or the one an earlier request with the same key has made. */
export async function pendingFor(
  world: World,
  request: DoorRequest["session"],
  { agent, regionReason }: Pick<SocketAgent, "agent" | "regionReason">,
): Promise<{ row: SessionRow; isRepeated: boolean }> {
  return asLeader(world, async (tx) => {
    const earlier = await earlierSession(tx, request);
    if (earlier) return { row: earlier, isRepeated: true };
    await checkConcurrency(tx, request); // and again when the socket comes
    const { store, pendingLimits: limits } = world;
    await requirePendingPlace(tx, { store, agent, apiKeyId: request.apiKeyId, limits });
    const nowMs = world.clock.nowMs();
    const session = {
      ...newSessionRow({ request, agent, preference: request.region, sessionId: world.newId(), nowMs }),
      regionReason,
      body: JSON.stringify(request.body ?? {}),
    };
    await tx.insertInto("sessions").values(session).execute();
    await rememberKey(tx, request, session.id, nowMs);
    return { row: session, isRepeated: false };
  });
}

export interface SocketAgent {
  agent: AgentRow;
  /** Why this one of several. */
  regionReason: string;
  organizationName: string;
  websocketAuth: DeploymentSpec["websocketAuth"];
  spec: DeploymentSpec;
}

/**
 * Of several, the one that would take a session now; whether there is room is asked when the socket comes. All in one
 * question: two of these are on the way of every start.
 */
export async function findForSocket(
  world: World,
  wanted: { agentName: string; region?: RegionPreference | undefined } & (
    | { organizationId: OrganizationId }
    | { organizationName: string }
  ),
): Promise<SocketAgent> {
  const agents = world.store.db
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
  const [first, ...rest] = ownFirst(await own.execute());
  if (!first) throw notFound("Service not found");
  const rows: [typeof first, ...(typeof first)[]] = [first, ...rest];
  const view = regionView(world, wanted.region);
  const tried = regionsToTry(rows, view).map(({ agent: row }) => row);
  const chosen = tried.find((row) => row.spec !== null);
  if (!chosen?.spec) throw new AppError("AGENT-1001");
  const before = tried.slice(0, tried.indexOf(chosen));
  const passedOver = new Map(before.map(({ region }) => [region, "not-ready"] as const));
  const { organizationName, spec, ...agent } = chosen;
  const deployed = DeploymentSpec.parse(JSON.parse(spec));
  return {
    ...{ agent, organizationName },
    regionReason: reasonFor(agent, rows, { ...view, passedOver }),
    websocketAuth: deployed.websocketAuth,
    spec: deployed,
  };
}
