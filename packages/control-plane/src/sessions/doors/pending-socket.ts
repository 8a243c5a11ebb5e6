import { AppError } from "@vocalhost/protocol";
import { requireLive } from "../../agents/find-agent.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { type DeploymentSpec, parseSpec } from "../../agents/deployments/deployment-spec.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { prepared } from "@vocalhost/store/prepared";
import { sendWithNext, together } from "@vocalhost/store/round-trips";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { World } from "../world.ts";
import { reasonFor, regionsToTry, type RegionPreference } from "../choose-region.ts";
import { checkBound, countBound } from "../concurrency.ts";
import { earlierSessions, readEarlier, rememberKey } from "../idempotency.ts";
import { checkPending, countPending, lockPending } from "../pending-sessions.ts";
import { insertSession, newSessionRow } from "../session-row.ts";
import { regionView } from "../start-session.ts";
import type { DoorRequest } from "./door.ts";

/** A new session that waits for its socket, or the one an earlier request with the same key has made. */
export async function pendingFor(
  world: World,
  request: DoorRequest["session"],
  { agent, regionReason }: Pick<SocketAgent, "agent" | "regionReason">,
): Promise<{ row: SessionRow; isRepeated: boolean }> {
  const { store, timing, pendingLimits: limits } = world;
  const { apiKeyId, caller = null } = request;
  const place = { agent, apiKeyId, caller };
  const pend = async (tx: Tx): Promise<{ row: SessionRow; isRepeated: boolean }> => {
    await lockPending(tx, { store, ...place });
    const read = await together(tx, {
      earlier: earlierSessions(tx, request),
      bound: countBound(tx, request),
      pending: countPending(tx, place),
    });
    const earlier = readEarlier(read.earlier, request);
    if (earlier) return { row: earlier, isRepeated: true };
    checkBound(read.bound, request); // and again when the socket comes
    const nowMs = world.clock.nowMs();
    checkPending(read.pending, { agent, limits, timing, nowMs });
    const session = {
      ...newSessionRow({ request, agent, preference: request.region, sessionId: world.newId(), nowMs }),
      regionReason,
      caller,
      body: JSON.stringify(request.body ?? {}),
    };
    await sendWithNext(tx, insertSession(tx, session));
    await rememberKey(tx, request, session.id, nowMs);
    return { row: session, isRepeated: false };
  };
  return asLeader(world, pend, { sharesCommit: true }); // starts come in crowds
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

/** Of several, the one that would take a session now; whether there is room is asked when the socket comes. */
export async function findForSocket(world: World, wanted: WantedAgent): Promise<SocketAgent> {
  const { db } = world.store;
  const { agents } = await together(db, { agents: agentsForSocket(db, wanted) });
  return chooseForSocket(world, agents, wanted);
}

/** Asks for agents, organisation and deployments at once: this is on the way of every start. */
export function agentsForSocket(db: Db, { agentName, ...wanted }: WantedAgent) {
  return "organizationId" in wanted
    ? agentsOfId(db, { agentName, organizationId: wanted.organizationId })
    : agentsOfName(db, { agentName, organizationName: wanted.organizationName });
}

const agentsOfId = prepared(
  (db, { agentName, organizationId }: { agentName: string; organizationId: string }) =>
    agentsNamed(db, agentName).where("organizations.id", "=", organizationId),
);
const agentsOfName = prepared(
  (db, { agentName, organizationName }: { agentName: string; organizationName: string }) =>
    agentsNamed(db, agentName).where("organizations.name", "=", organizationName),
);

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

type FoundAgent = AgentRow & { organizationName: string; spec: string | null };

export function chooseForSocket(
  world: World,
  found: FoundAgent[],
  { region }: Pick<WantedAgent, "region">,
): SocketAgent {
  const rows = requireLive(found);
  const view = regionView(world, region);
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
