import { AppError, type Connect, type TransportName } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import { requireLive } from "../agents/find-agent.ts";
import { parseSpec } from "../agents/deployments/deployment-spec.ts";
import { InstanceCallError } from "../pools/instances/instance-network.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { claimInstance, occupy, type Claim, type Full, type PoolInstance } from "../pools/claim.ts";
import { moveInstance } from "../pools/instance-state.ts";
import {
  NO_PREFERENCE,
  reasonFor,
  refusalOf,
  regionsToTry,
  type PassedOver,
  type RegionView,
  type RegionPreference,
} from "./choose-region.ts";
import { checkBound } from "./concurrency.ts";
import { failSession } from "./fail-session.ts";
import { readEarlier, rememberKey, type IdempotencyKey } from "./idempotency.ts";
import { readForStart } from "./read-for-start.ts";
import { rememberRoom } from "./session-rooms.ts";
import { insertSession, newSessionRow } from "./session-row.ts";
import { capacityOf, type Wakeups } from "../pools/wakeups.ts";
import { prepared } from "@vocalhost/store/prepared";
import { sendWithNext } from "@vocalhost/store/round-trips";
import type { AgentRow, DeploymentRow, InstanceRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { World } from "./world.ts";
import { requireSessionMove } from "./session-state.ts";

/** What a caller wants. Every front door comes through here. */
export interface SessionRequest {
  organizationId: OrganizationId;
  agentName: string;
  transport: TransportName;
  /** How the client connects; told when the session is known, if that matters. */
  connect: Connect | ((session: SessionRow) => Connect);
  body: unknown;
  /** @default in the agent's own region, or the nearest */
  region?: RegionPreference | undefined;
  apiKeyId: string | null;
  /** See `callerOf`. @default null */
  caller?: string | null;
  /** Sessions this caller may have at once. */
  concurrency: number | null;
  idempotency?: IdempotencyKey | undefined;
  /** A session that waits for its socket, as it was read; it is used instead of a new one. */
  pending?: SessionRow | undefined;
  /** Done first in the transaction that looks for an instance, once; what it throws refuses the start. */
  beforeBind?: ((tx: Tx) => Promise<void>) | undefined;
  /** How long to wait for capacity. @default 0 */
  queueMs?: number | undefined;
}

export interface StartedSession {
  session: SessionRow;
  instance: PoolInstance | undefined;
  /** An earlier request with the same key has made it. */
  isRepeated: boolean;
}

export interface Starter {
  world: World;
  wakeups: Wakeups;
  nudge(): void;
  /** The service is shutting down for good. */
  isEnding(): boolean;
}

const ATTEMPTS_MAX = 3; // an instance may die between being chosen and being asked
const QUEUE_LOOK_MS = 250;
const LOOK_AGAIN_MS = 500;
const REFILL_MS = 50;
const SHARED = { sharesCommit: true }; // starts come in crowds

/** Resolves when the session is active: its instance has taken it, and that is written down. */
export async function startSession(starter: Starter, request: SessionRequest): Promise<StartedSession> {
  starter.world.store.requireDiskSpace(); // what is left on a full disk is for the sessions that run
  for (let attempt = 1; ; attempt++) {
    if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
    const bound = await bindWhenThereIsCapacity(starter, request);
    if (bound.isRepeated) return repeated(starter, bound.session);
    try {
      return await bringUp(starter, request, bound);
    } catch (error) {
      const mayTryAgain = error instanceof InstanceCallError && error.delivered !== "maybe";
      // A pending session was moved on and cannot be bound again.
      if (mayTryAgain && attempt < ATTEMPTS_MAX && !request.pending) continue;
      throw error instanceof InstanceCallError ? toAppError(error) : error;
    }
  }
}

interface Bound {
  isRepeated: false;
  session: SessionRow;
  claim: Claim;
  /** `boundAt` on the monotonic clock: the session's length counts from here. */
  boundMs: number;
}

/** An earlier request with the same key has bound it. */
interface BoundEarlier {
  isRepeated: true;
  session: SessionRow;
}

async function bindWhenThereIsCapacity(
  starter: Starter,
  request: SessionRequest,
): Promise<Bound | BoundEarlier> {
  const { world, wakeups } = starter;
  const untilMs = world.clock.monotonicMs() + (request.queueMs ?? 0);
  let { beforeBind } = request;
  const capacity = capacityOf({ organizationId: request.organizationId, name: request.agentName });
  for (;;) {
    const bound = await bindInSomeRegion(starter, { ...request, beforeBind });
    beforeBind = undefined;
    if (typeof bound !== "string") return bound;
    const leftMs = untilMs - world.clock.monotonicMs();
    if (leftMs <= 0) throw atCapacity(bound);
    await wakeups.wait(capacity, Math.min(leftMs, QUEUE_LOOK_MS));
  }
}

/** One region after the other, each in a transaction of its own: no start waits for another with two agents locked. */
async function bindInSomeRegion(
  starter: Starter,
  request: SessionRequest,
): Promise<Bound | BoundEarlier | Full> {
  const passedOver = new Map<string, PassedOver>();
  let { beforeBind } = request;
  let full: Full | undefined;
  for (;;) {
    const bound = await bind(starter, { ...request, beforeBind }, passedOver);
    beforeBind = undefined;
    if (!("passedOver" in bound)) return bound;
    passedOver.set(bound.passedOver, bound.why);
    full ??= bound.full;
    if (!bound.isLast) continue;
    if (full) return full;
    throw refusalOf(passedOver);
  }
}

/** This region cannot take it. */
interface NotBound {
  passedOver: string;
  why: PassedOver;
  /** It may help to wait. */
  full?: Full;
  isLast: boolean;
}

async function bind(
  { world, nudge }: Starter,
  request: SessionRequest,
  passedOver: ReadonlyMap<string, PassedOver>,
): Promise<Bound | BoundEarlier | NotBound> {
  world.failpoint("start.claimed.before");
  const bound = await asLeader(world, (tx) => bindIn(tx, world, { request, passedOver }), SHARED);
  if ("claim" in bound) world.lastSeen.bound(bound.session.id, bound.boundMs);
  world.failpoint("start.claimed.after");
  // Somebody waits for an instance that is yet to be made; a warm start goes first, and the pool fills up behind it.
  if ("claim" in bound && bound.claim.kind === "cold") nudge();
  return bound;
}

async function bindIn(
  tx: Tx,
  world: World,
  { request, passedOver }: { request: SessionRequest; passedOver: ReadonlyMap<string, PassedOver> },
): Promise<Bound | BoundEarlier | NotBound> {
  await request.beforeBind?.(tx);
  const read = await readForStart(tx, world.store, request);
  const earlier = readEarlier(read.earlier, request);
  if (earlier) return { isRepeated: true, session: earlier };
  const agents = requireLive(read.agents);
  const view = regionView(world, request.region);
  const left = regionsToTry(agents, view).filter(({ agent: { region } }) => !passedOver.has(region));
  const [choice, ...others] = left;
  if (!choice) throw refusalOf(passedOver); // what was left has been deleted meanwhile
  const { agent, isDown } = choice;
  const not = { passedOver: agent.region, isLast: others.length === 0 };
  const { activeId, activeSpec } = agent;
  if (activeId === null || activeSpec === null) return { ...not, why: isDown ? "down" : "not-ready" };
  checkBound(read.bound, request);
  const nowMs = world.clock.nowMs();
  const boundMs = world.clock.monotonicMs();
  const sessionId = request.pending?.id ?? world.newId();
  const { store, quotasOf, mediaPorts, newId, epoch } = world;
  const claim = await claimInstance(tx, {
    store,
    agent,
    live: read.live?.filter(({ agentId }) => agentId === agent.id),
    deploymentId: activeId,
    sessionId,
    onlyReady: isDown,
    quotasOf,
    mediaPorts,
    newId,
    epoch,
    nowMs,
  });
  if (claim === "none-ready") return { ...not, why: "down" };
  if (typeof claim === "string") return { ...not, why: "full", full: claim };
  const regionReason = reasonFor(agent, agents, { ...view, passedOver });
  const deployment = { id: activeId, spec: activeSpec };
  const session = await writeStarting(tx, {
    ...{ request, agent, deployment, regionReason, sessionId, claim, world, nowMs },
  });
  await rememberKey(tx, request, session.id, nowMs);
  const connect = connectOf(request, session);
  await rememberRoom(tx, connect, session.id);
  return { isRepeated: false, session, claim, boundMs };
}

/** What decides between regions, as it is now. */
export function regionView(
  { driver, nearestTo = () => [] }: Pick<World, "driver" | "nearestTo">,
  preference: RegionPreference = NO_PREFERENCE,
): RegionView {
  return { preference, nearestTo, down: driver.regional?.away() ?? new Set() };
}

function atCapacity(full: Full): AppError {
  if (full === "agent-full") return new AppError("AGENT-AT-CAPACITY");
  const what = full === "ports-used-up" ? "media ports of the service" : "instances of the organisation";
  return new AppError("AGENT-AT-CAPACITY", {
    message: `Rate limit exceeded. Please try again later: all ${what} are in use`,
  });
}

function connectOf({ connect }: SessionRequest, session: SessionRow): Connect {
  return typeof connect === "function" ? connect(session) : connect;
}

interface Starting {
  request: SessionRequest;
  agent: AgentRow;
  deployment: Pick<DeploymentRow, "id" | "spec">;
  regionReason: string;
  sessionId: string;
  claim: Claim;
  world: World;
  nowMs: number;
}

async function writeStarting(tx: Tx, starting: Starting): Promise<SessionRow> {
  const { request, agent, deployment, regionReason, sessionId, claim, world, nowMs } = starting;
  const spec = parseSpec(deployment.spec);
  const bound = {
    agentId: agent.id, // one that waited for its socket may have been meant for another region
    region: agent.region,
    regionReason,
    deploymentId: deployment.id,
    instanceId: claim.instance.id,
    filter: spec.audioFilter,
    filterState: spec.audioFilter === null || world.hasVoiceEngine ? null : ("unavailable" as const),
    coldStart: claim.kind === "cold" ? 1 : 0,
    epoch: world.epoch,
    boundAt: nowMs,
    caller: null,
    maxDurationMs: spec.maxSessionDurationS * 1000,
  } as const;
  const { pending } = request;
  if (pending) {
    const otherwise = () => new AppError("TOKEN_INVALID");
    await requireSessionMove(tx, pending, { to: "starting", changes: bound, otherwise });
    return { ...pending, ...bound, state: "starting", version: pending.version + 1 };
  }
  const session = {
    ...newSessionRow({ request, agent, preference: request.region, sessionId, nowMs }),
    ...bound,
    state: "starting" as const,
  };
  await sendWithNext(tx, insertSession(tx, session));
  return session;
}

async function bringUp(starter: Starter, request: SessionRequest, bound: Bound): Promise<StartedSession> {
  const { world } = starter;
  const { session, claim, boundMs } = bound;
  try {
    const instance =
      claim.kind === "warm" ? claim.instance : await whenReady(starter, claim.instance, session);
    await wake(instance, world);
    const readyAtMs = world.clock.monotonicMs();
    world.failpoint("bot.started.before");
    await world.network.start(
      { id: instance.id, address: instance.address ?? "" },
      {
        epoch: world.epoch,
        sessionId: session.id,
        transport: session.transport,
        body: request.body,
        maxDurationMs: session.maxDurationMs,
        connectDeadlineMs: world.timing.connectDeadlineMs,
        connect: connectOf(request, session),
        filter: session.filter,
      },
      world.timing.startWarmMs,
    );
    world.failpoint("bot.started.after");
    const acknowledgedAtMs = world.clock.monotonicMs();
    const active = await writeActive(world, session, {
      startMs: Math.round(acknowledgedAtMs - boundMs),
      ...(claim.kind === "cold" ? { bootMs: Math.round(readyAtMs - boundMs) } : {}),
    });
    starter.wakeups.wake(session.id);
    refill(starter);
    return { session: active, instance, isRepeated: false };
  } catch (error) {
    const abandoned = abandon(starter, session, claim.instance, error);
    // A database that could not take the one cannot take the other: who waits is told now.
    if (!(error instanceof AppError && error.code === "SERVICE_UNAVAILABLE")) await abandoned;
    throw error;
  }
}

async function wake({ id }: PoolInstance, { driver }: World): Promise<void> {
  try {
    await driver.wake?.(id);
  } catch (error) {
    throw new InstanceCallError("The instance could not be woken", "no", { cause: error });
  }
}

const refilling = new WeakSet<Starter>();

/**
 * A little later: making the next instance must not compete with the client who is just coming to this one. One look at
 * the pools is for all who started meanwhile.
 */
function refill(starter: Starter): void {
  if (refilling.has(starter)) return;
  refilling.add(starter);
  void starter.world.clock.sleep(REFILL_MS).then(() => {
    refilling.delete(starter);
    starter.nudge();
  });
}

async function whenReady(
  starter: Starter,
  reserved: PoolInstance,
  { region }: SessionRow,
): Promise<PoolInstance> {
  const { world, wakeups } = starter;
  const untilMs = world.clock.monotonicMs() + world.timing.startColdMs;
  for (;;) {
    if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
    const row = await readInstance(world.store.db, reserved.id);
    if (!row || row.sessionId !== reserved.sessionId || ["draining", "stopped", "lost"].includes(row.state))
      throw new AppError("AGENT-1001", {
        message: "The bot could not be started. See the agent's errors and logs.",
      });
    if (row.state === "ready") {
      const nowMs = world.clock.nowMs();
      if (await asLeader(world, (tx) => occupy(tx, row, nowMs)))
        return { ...row, state: "busy", version: row.version + 1 };
      continue;
    }
    // Nobody looks after it there for now; another region may have it sooner.
    if (world.driver.regional?.away().has(region ?? ""))
      throw new InstanceCallError(`The region '${region}' is down`, "no");
    const leftMs = untilMs - world.clock.monotonicMs();
    if (leftMs <= 0) throw new AppError("START_TIMED_OUT");
    await wakeups.wait(reserved.id, Math.min(leftMs, LOOK_AGAIN_MS));
  }
}

async function writeActive(
  world: World,
  session: SessionRow,
  measured: { startMs: number; bootMs?: number },
): Promise<SessionRow> {
  world.failpoint("active.committed.before");
  let active: SessionRow | undefined;
  for (let row = session; !active;)
    try {
      active = await moveActive(world, row, measured);
    } catch (error) {
      if (!(error instanceof ChangedSinceError)) throw error;
      row = await readStarting(world, session);
    }
  world.failpoint("active.committed.after");
  return active;
}

async function readStarting({ store }: World, { id }: SessionRow): Promise<SessionRow> {
  const row = await store.db
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  if (row.state !== "starting") throw new AppError("START_TIMED_OUT"); // given up by somebody else meanwhile
  return row;
}

/** A stop was asked for, or somebody gave the start up. */
class ChangedSinceError extends Error {}

/** Throws if the row is not as it was read any more. */
async function moveActive(
  world: World,
  row: SessionRow,
  measured: { startMs: number; bootMs?: number },
): Promise<SessionRow> {
  const nowMs = world.clock.nowMs();
  const changes = {
    activeAt: nowMs,
    startMs: measured.startMs,
    deadlineAt: nowMs + row.maxDurationMs,
    timeline: JSON.stringify(measured),
    body: null,
  };
  // Stop is a stored flag; whoever commits the start must look at it. It changes the row's version too.
  const to = row.stopRequestedAt === null ? ("active" as const) : ("stopping" as const);
  const otherwise = () => new ChangedSinceError();
  await asLeader(world, (tx) => requireSessionMove(tx, row, { to, changes, otherwise }), SHARED);
  return { ...row, ...changes, state: to, version: row.version + 1 };
}

// The instance may have taken the session although we did not hear of it: it is thrown away, never reused.
async function abandon(
  { world, wakeups, nudge }: Starter,
  session: SessionRow,
  instance: PoolInstance,
  error: unknown,
): Promise<void> {
  const said = error instanceof InstanceCallError ? toAppError(error) : error;
  const isLate = said instanceof AppError && said.code === "START_TIMED_OUT";
  world.log.warn(
    { sessionId: session.id, instanceId: instance.id, err: error },
    "session could not be started",
  );
  try {
    const row = await world.store.db
      .selectFrom("sessions")
      .selectAll()
      .where("id", "=", session.id)
      .executeTakeFirst();
    if (row?.state === "starting") await failSession(row, isLate ? "start-timed-out" : "start-failed", world);
    const nowMs = world.clock.nowMs();
    await asLeader(world, async (tx) => {
      const now = await readInstance(tx, instance.id);
      if (now?.state === "busy" && now.sessionId === session.id)
        await moveInstance(tx, now, { to: "draining", cause: "it did not take its session", nowMs });
    });
  } catch (cause) {
    world.log.error({ err: cause, sessionId: session.id }, "failed start could not be written down");
  }
  wakeups.wake(session.id);
  nudge();
}

/** The first request may still be under way. */
async function repeated({ world, wakeups }: Starter, first: SessionRow): Promise<StartedSession> {
  const untilMs = world.clock.monotonicMs() + world.timing.startColdMs + world.timing.startWarmMs;
  for (;;) {
    const session = await world.store.db
      .selectFrom("sessions")
      .selectAll()
      .where("id", "=", first.id)
      .executeTakeFirstOrThrow();
    if (session.state !== "starting") {
      if (session.state === "failed") throw new AppError("SERVICE_UNAVAILABLE");
      const instance = session.instanceId
        ? await readInstance(world.store.db, session.instanceId)
        : undefined;
      return { session, instance, isRepeated: true };
    }
    if (world.clock.monotonicMs() > untilMs) throw new AppError("START_TIMED_OUT");
    await wakeups.wait(first.id, LOOK_AGAIN_MS);
  }
}

async function readInstance(db: Db, id: string): Promise<InstanceRow | undefined> {
  const { rows } = await db.executeQuery(instanceOf(db, { id }));
  return rows[0];
}

const instanceOf = prepared((db, { id }: Pick<InstanceRow, "id">) =>
  db.selectFrom("instances").selectAll().where("id", "=", id),
);

function toAppError(error: InstanceCallError): AppError {
  return error.delivered === "maybe"
    ? new AppError("START_TIMED_OUT", { cause: error })
    : new AppError("SERVICE_UNAVAILABLE", { cause: error });
}
