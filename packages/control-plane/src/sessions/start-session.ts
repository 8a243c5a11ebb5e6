import { AppError, type Connect, type TransportName } from "@vocalhost/protocol";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { InstanceRow, SessionRow } from "@vocalhost/store/schema";
import type { Db, Tx } from "@vocalhost/store/store";
import type { OrganizationId } from "../identity/principal.ts";
import type { PoolInstance } from "../pools/claim.ts";
import { moveInstance } from "../pools/instance-state.ts";
import { InstanceCallError } from "../pools/instances/instance-network.ts";
import type { Wakeups } from "../pools/wakeups.ts";
import { bindSession, connectOf, START_LIMIT, type Bound } from "./bind-session.ts";
import type { RegionPreference } from "./choose-region.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import { failSession, moveSession } from "./session-state.ts";
import type { World } from "./world.ts";

/** A request for a session. All transports come through here. */
export interface SessionRequest {
  organizationId: OrganizationId;
  agentName: string;
  transport: TransportName;
  /** How the client connects; a function where that depends on the session. */
  connect: Connect | ((session: SessionRow) => Connect);
  body: unknown;
  /** @default in the agent's own region, or the nearest */
  region?: RegionPreference | undefined;
  apiKeyId: string | null;
  /** See `callerOf`. @default null */
  caller?: string | null;
  /** How many sessions this caller may have at once. */
  concurrency: number | null;
  idempotency?: IdempotencyKey | undefined;
  /** A session that waits for its socket, as it was read; it is used instead of a new one. */
  pending?: SessionRow | undefined;
  /** Runs first in the first transaction that looks for an instance. If it throws, the start is refused. */
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
const LOOK_AGAIN_MS = 500;
const REFILL_MS = 50;

/** Resolves when the session is active: its instance has taken it, and that is written down. */
export async function startSession(starter: Starter, request: SessionRequest): Promise<StartedSession> {
  starter.world.store.requireDiskSpace(); // what is left on a full disk is for the sessions that run
  for (let attempt = 1; ; attempt++) {
    if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
    const bound = await bindSession(starter, request);
    if (bound.kind === "repeated") return repeated(starter, bound.session);
    try {
      const { instance, ...measured } = await bringUp(starter, request, bound);
      const session = await activate(starter, bound, measured);
      return { session, instance, isRepeated: false };
    } catch (error) {
      const abandoned = abandon(starter, bound, error);
      // A database that could not take the one cannot take the other: the client is told now.
      if (!(error instanceof AppError && error.code === "SERVICE_UNAVAILABLE")) await abandoned;
      const mayTryAgain = error instanceof InstanceCallError && error.delivered !== "maybe";
      // A pending session was moved on and cannot be bound again.
      if (!mayTryAgain || attempt === ATTEMPTS_MAX || request.pending) throw toAppError(error);
    }
  }
}

interface BroughtUp {
  instance: PoolInstance;
  readyMs: number;
  acknowledgedMs: number;
}

/** Waits for the instance and gives it its session. */
async function bringUp(starter: Starter, request: SessionRequest, bound: Bound): Promise<BroughtUp> {
  const { world } = starter;
  const { session, claim } = bound;
  const instance = claim.kind === "warm" ? claim.instance : await whenReady(starter, bound);
  await wake(instance, world);
  const readyMs = world.clock.monotonicMs();
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
  return { instance, readyMs, acknowledgedMs: world.clock.monotonicMs() };
}

async function whenReady(
  starter: Starter,
  { session, claim: { instance: reserved } }: Bound,
): Promise<PoolInstance> {
  const { world, wakeups } = starter;
  const untilMs = world.clock.monotonicMs() + world.timing.startColdMs;
  for (;;) {
    if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
    const row = await readInstance(world.store.db, reserved.id);
    if (!row || row.sessionId !== session.id || ["draining", "stopped", "lost"].includes(row.state))
      throw new AppError("AGENT-1001", {
        message: "The bot could not be started. See the agent's errors and logs.",
      });
    if (row.state === "ready") {
      const cause = "ready for the session it was made for";
      const move = { to: "busy", cause, nowMs: world.clock.nowMs() } as const;
      if (await asLeader(world, (tx) => moveInstance(tx, row, move)))
        return { ...row, state: "busy", version: row.version + 1 };
      continue;
    }
    // While its driver is away, an instance there gets no further. Another region may have one sooner.
    if (world.driver.regional?.away().has(session.region ?? ""))
      throw new InstanceCallError(`The region '${session.region}' is down`, "no");
    const leftMs = untilMs - world.clock.monotonicMs();
    if (leftMs <= 0) throw new AppError("START_TIMED_OUT");
    await wakeups.wait(reserved.id, Math.min(leftMs, LOOK_AGAIN_MS));
  }
}

async function wake({ id }: PoolInstance, { driver }: World): Promise<void> {
  try {
    await driver.wake?.(id);
  } catch (error) {
    throw new InstanceCallError("The instance could not be woken", "no", { cause: error });
  }
}

/** Writes down that the instance has taken the session. */
async function activate(
  starter: Starter,
  { session: { id }, claim, boundMs }: Bound,
  { readyMs, acknowledgedMs }: Omit<BroughtUp, "instance">,
): Promise<SessionRow> {
  const { world } = starter;
  const measured = {
    startMs: Math.round(acknowledgedMs - boundMs),
    ...(claim.kind === "cold" ? { bootMs: Math.round(readyMs - boundMs) } : {}),
  };
  world.failpoint("active.committed.before");
  const write = async (tx: Tx): Promise<SessionRow> => {
    const row = await world.store
      .forUpdate(tx.selectFrom("sessions").selectAll().where("id", "=", id))
      .executeTakeFirstOrThrow();
    if (row.state !== "starting") throw new AppError("START_TIMED_OUT"); // the reconciler gave the start up meanwhile
    const nowMs = world.clock.nowMs();
    const changes = {
      activeAt: nowMs,
      startMs: measured.startMs,
      deadlineAt: nowMs + row.maxDurationMs,
      timeline: JSON.stringify(measured),
      body: null,
    };
    // A stop that was asked for meanwhile is a stored flag, and takes effect here.
    const to = row.stopRequestedAt === null ? "active" : "stopping";
    if (!(await moveSession(tx, row, { to, changes }))) throw new Error("A session changed under its lock");
    return { ...row, ...changes, state: to, version: row.version + 1 };
  };
  const active = await asLeader(world, write, START_LIMIT);
  world.failpoint("active.committed.after");
  starter.wakeups.wake(id);
  refill(starter);
  return active;
}

const refilling = new WeakSet<Starter>();

/**
 * Has the pool filled up a little later: making the next instance must not compete with the client that connects to this
 * one. One look at the pools is for all sessions that started meanwhile.
 */
function refill(starter: Starter): void {
  if (refilling.has(starter)) return;
  refilling.add(starter);
  void starter.world.clock.sleep(REFILL_MS).then(() => {
    refilling.delete(starter);
    starter.nudge();
  });
}

/**
 * Fails the session of a start that failed. Its instance may have taken the session although nothing was heard of it, so it
 * is drained and never reused.
 */
async function abandon(
  { world, wakeups, nudge }: Starter,
  { session: { id: sessionId }, claim }: Bound,
  error: unknown,
): Promise<void> {
  const instanceId = claim.instance.id;
  const told = toAppError(error);
  const isLate = told instanceof AppError && told.code === "START_TIMED_OUT";
  world.log.warn({ sessionId, instanceId, err: error }, "session could not be started");
  const nowMs = world.clock.nowMs();
  try {
    await asLeader(world, async (tx) => {
      const row = await tx
        .selectFrom("sessions")
        .select(["id", "state", "version"])
        .where("id", "=", sessionId)
        .executeTakeFirst();
      if (row?.state === "starting")
        await failSession(tx, row, { reason: isLate ? "start-timed-out" : "start-failed", nowMs });
      const instance = await readInstance(tx, instanceId);
      if (instance?.state === "busy" && instance.sessionId === sessionId)
        await moveInstance(tx, instance, { to: "draining", cause: "it did not take its session", nowMs });
    });
  } catch (cause) {
    world.log.error({ err: cause, sessionId }, "failed start could not be written down");
  }
  wakeups.wake(sessionId);
  nudge();
}

/** Waits for the first request with the same key, which may still be under way. */
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
  return db.selectFrom("instances").selectAll().where("id", "=", id).executeTakeFirst();
}

function toAppError(error: unknown): unknown {
  if (!(error instanceof InstanceCallError)) return error;
  return error.delivered === "maybe"
    ? new AppError("START_TIMED_OUT", { cause: error })
    : new AppError("SERVICE_UNAVAILABLE", { cause: error });
}
