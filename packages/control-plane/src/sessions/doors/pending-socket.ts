import { AppError } from "@vocalhost/protocol";
import { requireLive } from "../../agents/find-agent.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { type DeploymentSpec, parseSpec } from "../../agents/deployments/deployment-spec.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { World } from "../world.ts";
import { reasonFor, regionsToTry, type RegionPreference } from "../choose-region.ts";
import { requireConcurrency } from "../concurrency.ts";
import { findEarlier, rememberKey } from "../idempotency.ts";
import { requirePendingPlace } from "../pending-sessions.ts";
import { newSessionRow } from "../session-row.ts";
import { regionView, START_LIMIT } from "../bind-session.ts";
import type { DoorRequest } from "./door.ts";

/** A new session that waits for its socket, or the one an earlier request with the same key has made. */
export async function pendingFor(
  world: World,
  request: DoorRequest["session"],
  { agent, regionReason }: Pick<SocketAgent, "agent" | "regionReason">,
): Promise<{ row: SessionRow; isRepeated: boolean }> {
  const { store, timing, pendingLimits: limits } = world;
  const { apiKeyId, caller = null } = request;
  const pend = async (tx: Tx): Promise<{ row: SessionRow; isRepeated: boolean }> => {
    const nowMs = world.clock.nowMs();
    const earlier = await findEarlier(tx, request);
    if (earlier) return { row: earlier, isRepeated: true };
    await requireConcurrency(tx, request); // and again when the socket comes
    await requirePendingPlace({ store, tx }, { agent, apiKeyId, caller, limits, timing, nowMs });
    const row = {
      ...newSessionRow({ request, agent, preference: request.region, sessionId: world.newId(), nowMs }),
      regionReason,
      caller,
      body: JSON.stringify(request.body ?? {}),
    };
    await tx.insertInto("sessions").values(row).execute();
    await rememberKey(tx, request, { id: row.id, nowMs });
    return { row, isRepeated: false };
  };
  return asLeader(world, pend, START_LIMIT);
}

export interface SocketAgent {
  agent: AgentRow;
  /** Why this one of several. */
  regionReason: string;
  organizationName: string;
  websocketAuth: DeploymentSpec["websocketAuth"];
  spec: DeploymentSpec;
}

/** An agent by its name. */
export type WantedAgent = { agentName: string; region?: RegionPreference | undefined } & (
  | { organizationId: OrganizationId }
  | { organizationName: string }
);

/**
 * Returns the agent that would take a session now, of all regions that have one of this name. Its capacity is checked when
 * the socket comes.
 */
export async function findForSocket(world: World, wanted: WantedAgent): Promise<SocketAgent> {
  const rows = requireLive(await agentsForSocket(world.store.db, wanted).execute());
  const view = regionView(world, wanted.region);
  const tried = regionsToTry(rows, view).map(({ agent: row }) => row);
  const chosen = tried.find((row) => row.spec !== null);
  if (!chosen?.spec) throw new AppError("AGENT-1001");
  const before = tried.slice(0, tried.indexOf(chosen));
  const passedOver = new Map(before.map((row) => [row.region, "not-ready"] as const));
  const { organizationName, spec, ...agent } = chosen;
  const deployed = parseSpec(spec);
  return {
    ...{ agent, organizationName },
    regionReason: reasonFor(agent, rows, { ...view, passedOver }),
    websocketAuth: deployed.websocketAuth,
    spec: deployed,
  };
}

export function agentsForSocket(db: Db, { agentName, ...wanted }: WantedAgent) {
  const named = agentsNamed(db, agentName);
  return "organizationId" in wanted
    ? named.where("organizations.id", "=", wanted.organizationId)
    : named.where("organizations.name", "=", wanted.organizationName);
}

function agentsNamed(db: Db, name: string) {
  return db
    .selectFrom("agents")
    .innerJoin("organizations", "organizations.id", "agents.organizationId")
    .leftJoin("deployments", (join) =>
      join.onRef("deployments.agentId", "=", "agents.id").on("deployments.phase", "=", "Active"),
    )
    .selectAll("agents")
    .select(["organizations.name as organizationName", "deployments.spec"])
    .where("agents.name", "=", name)
    .where("agents.state", "!=", "deleted") // implied, but SQLite uses its partial index only if it is said
    .where("agents.state", "=", "live");
}
