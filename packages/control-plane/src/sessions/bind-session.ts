import { AppError, type Connect } from "@vocalhost/protocol";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { SessionRow } from "@vocalhost/store/schema";
import type { Db, TransactionOptions, Tx } from "@vocalhost/store/store";
import { parseSpec } from "../agents/deployments/deployment-spec.ts";
import { requireLive } from "../agents/find-agent.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { claimInstance, type Claim, type Full } from "../pools/claim.ts";
import { capacityOf } from "../pools/wakeups.ts";
import {
  NO_PREFERENCE,
  reasonFor,
  refusalOf,
  regionsToTry,
  type PassedOver,
  type RegionPreference,
  type RegionView,
} from "./choose-region.ts";
import { requireConcurrency } from "./concurrency.ts";
import { findEarlier, rememberKey } from "./idempotency.ts";
import { rememberRoom } from "./session-rooms.ts";
import { newSessionRow } from "./session-row.ts";
import { moveSession } from "./session-state.ts";
import type { SessionRequest, Starter } from "./start-session.ts";
import type { World } from "./world.ts";

/** A session that holds an instance. */
export interface Bound {
  kind: "bound";
  session: SessionRow;
  claim: Claim;
  /** `boundAt` on the monotonic clock: the session's length counts from here. */
  boundMs: number;
}

/** An earlier request with the same key has made the session. */
export interface BoundEarlier {
  kind: "repeated";
  session: SessionRow;
}

/** A region that cannot take the session. */
interface NotBound {
  kind: "not-bound";
  region: string;
  why: PassedOver;
  /** Set where it may help to wait. */
  full?: Full;
  isLast: boolean;
}

/** A start on Postgres is refused after this time, as soon as a warm one would be: it may wait for one lock after another. */
export const START_LIMIT: TransactionOptions = { limitMs: 8_000 };

const QUEUE_LOOK_MS = 250;

/**
 * Binds an instance to the session of a request. Each region is tried in a transaction of its own, so that no start locks
 * two agents; where all are full, it waits for capacity as long as the request says, and tries again.
 */
export async function bindSession(starter: Starter, request: SessionRequest): Promise<Bound | BoundEarlier> {
  const { world, wakeups } = starter;
  const untilMs = world.clock.monotonicMs() + (request.queueMs ?? 0);
  const capacity = capacityOf({ organizationId: request.organizationId, name: request.agentName });
  const passedOver = new Map<string, PassedOver>();
  let full: Full | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const beforeBind = isFirst ? request.beforeBind : undefined;
    const outcome = await bindOnce(starter, { ...request, beforeBind }, passedOver);
    if (outcome.kind !== "not-bound") return outcome;
    passedOver.set(outcome.region, outcome.why);
    full ??= outcome.full;
    if (!outcome.isLast) continue;
    if (!full) throw refusalOf(passedOver);
    const leftMs = untilMs - world.clock.monotonicMs();
    if (leftMs <= 0) throw atCapacity(full);
    await wakeups.wait(capacity, Math.min(leftMs, QUEUE_LOOK_MS));
    passedOver.clear();
    full = undefined;
  }
}

async function bindOnce(
  { world, nudge }: Starter,
  request: SessionRequest,
  passedOver: ReadonlyMap<string, PassedOver>,
): Promise<Bound | BoundEarlier | NotBound> {
  world.failpoint("start.claimed.before");
  const outcome = await asLeader(world, (tx) => bindIn(tx, world, { ...request, passedOver }), START_LIMIT);
  if (outcome.kind === "bound") world.lastSeen.bound(outcome.session.id, outcome.boundMs);
  world.failpoint("start.claimed.after");
  // A cold start waits for the reconciler. A warm one goes first, and the pool fills up behind it.
  if (outcome.kind === "bound" && outcome.claim.kind === "cold") nudge();
  return outcome;
}

type Binding = SessionRequest & { passedOver: ReadonlyMap<string, PassedOver> };

async function bindIn(tx: Tx, world: World, request: Binding): Promise<Bound | BoundEarlier | NotBound> {
  const { passedOver } = request;
  await request.beforeBind?.(tx);
  const earlier = await findEarlier(tx, request);
  if (earlier) return { kind: "repeated", session: earlier };
  const agents = requireLive(await agentsToStart(tx, request).execute());
  const view = regionView(world, request.region);
  const left = regionsToTry(agents, view).filter(({ agent: { region } }) => !passedOver.has(region));
  const [choice, ...others] = left;
  if (!choice) throw refusalOf(passedOver); // the other regions' agents were deleted meanwhile
  const { agent, isDown } = choice;
  const { region, activeId, activeSpec } = agent;
  const notBound = { kind: "not-bound", region, isLast: others.length === 0 } as const;
  if (activeId === null || activeSpec === null) return { ...notBound, why: isDown ? "down" : "not-ready" };
  await requireConcurrency(tx, request);
  const nowMs = world.clock.nowMs();
  const boundMs = world.clock.monotonicMs();
  const sessionId = request.pending?.id ?? world.newId();
  const { store, quotasOf, mediaPorts, newId, epoch } = world;
  const claim = await claimInstance(tx, {
    ...{ store, quotasOf, mediaPorts, newId, epoch, nowMs, sessionId },
    ...{ agentId: agent.id, deploymentId: activeId, onlyReady: isDown },
  });
  if (claim === "none-ready") return { ...notBound, why: "down" };
  if (typeof claim === "string") return { ...notBound, why: "full", full: claim };
  const session = await writeStarting(tx, request, {
    ...newSessionRow({ request, agent, preference: request.region, sessionId, nowMs }),
    ...{ deploymentId: activeId, instanceId: claim.instance.id, epoch, boundAt: nowMs },
    ...settingsOf(activeSpec, world),
    state: "starting",
    coldStart: claim.kind === "cold" ? 1 : 0,
    regionReason: reasonFor(agent, agents, { ...view, passedOver }),
  });
  await rememberKey(tx, request, { id: session.id, nowMs });
  await rememberRoom(tx, connectOf(request, session), session.id);
  return { kind: "bound", session, claim, boundMs };
}

/** The agents of one name in all regions, with their active deployments. */
export function agentsToStart(
  db: Db,
  { organizationId, agentName }: { organizationId: OrganizationId; agentName: string },
) {
  return db
    .selectFrom("agents")
    .leftJoin("deployments", (join) =>
      join.onRef("deployments.agentId", "=", "agents.id").on("deployments.phase", "=", "Active"),
    )
    .selectAll("agents")
    .select(["deployments.id as activeId", "deployments.spec as activeSpec"])
    .where("agents.organizationId", "=", organizationId)
    .where("agents.name", "=", agentName)
    .where("agents.state", "!=", "deleted") // implied, but SQLite uses its partial index only if it is said
    .where("agents.state", "=", "live");
}

/** Copied to the session when it is bound: a later deployment changes neither its limit nor its bill. */
function settingsOf(
  spec: string,
  { hasVoiceEngine }: World,
): Pick<SessionRow, "filter" | "filterState" | "maxDurationMs"> {
  const { audioFilter, maxSessionDurationS } = parseSpec(spec);
  const isUnavailable = audioFilter !== null && !hasVoiceEngine;
  return {
    filter: audioFilter,
    filterState: isUnavailable ? "unavailable" : null,
    maxDurationMs: maxSessionDurationS * 1000,
  };
}

async function writeStarting(tx: Tx, { pending }: SessionRequest, starting: SessionRow): Promise<SessionRow> {
  if (!pending) {
    await tx.insertInto("sessions").values(starting).execute();
    return starting;
  }
  // The row that waited for its socket goes on. It may have been meant for another region's agent.
  const { agentId, region, regionReason, deploymentId, instanceId, filter, filterState, coldStart } =
    starting;
  const { epoch, boundAt, maxDurationMs } = starting;
  const changes = {
    ...{ agentId, region, regionReason, deploymentId, instanceId, filter, filterState, coldStart },
    ...{ epoch, boundAt, maxDurationMs, caller: null },
  };
  if (!(await moveSession(tx, pending, { to: "starting", changes }))) throw new AppError("TOKEN_INVALID");
  return { ...pending, ...changes, state: "starting", version: pending.version + 1 };
}

/** Returns what decides between regions, as it is now. */
export function regionView(
  { driver, nearestTo = () => [] }: Pick<World, "driver" | "nearestTo">,
  preference: RegionPreference = NO_PREFERENCE,
): RegionView {
  return { preference, nearestTo, down: driver.regional?.away() ?? new Set() };
}

export function connectOf({ connect }: SessionRequest, session: SessionRow): Connect {
  return typeof connect === "function" ? connect(session) : connect;
}

function atCapacity(full: Full): AppError {
  if (full === "agent-full") return new AppError("AGENT-AT-CAPACITY");
  const what = full === "ports-used-up" ? "media ports of the service" : "instances of the organisation";
  return new AppError("AGENT-AT-CAPACITY", {
    message: `Rate limit exceeded. Please try again later: all ${what} are in use`,
  });
}
