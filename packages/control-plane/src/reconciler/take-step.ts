import type { SessionFilter } from "@vocalhost/protocol";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { Deploying } from "../agents/deployments/deploying.ts";
import { DriverUnavailableError, SourceGoneError } from "@vocalhost/drivers/driver";
import { toInertLines } from "@vocalhost/base/inert-text";
import { closeSession, type Ending } from "../sessions/close-session.ts";
import { closedFilter } from "../sessions/filter-facts.ts";
import { expirePending } from "../sessions/pending-sessions.ts";
import { failSession, moveSession } from "../sessions/session-state.ts";
import { moveDeployment } from "../agents/deployments/deployment-phase.ts";
import { compareAndSet } from "@vocalhost/store/move-row";
import type { DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import type { World } from "../sessions/world.ts";
import { mayHaveInstance } from "../identity/quotas/require-quota.ts";
import { newInstanceRow } from "../pools/claim.ts";
import { LIVE_INSTANCE_STATES, moveInstance } from "../pools/instance-state.ts";
import { crashOf } from "./plan-instance.ts";
import type { Crash, PoolStep, PoolView } from "./plan-pool.ts";
import type { PoolSession } from "./read-pools.ts";
import { capacityOf, type Wakeups } from "../pools/wakeups.ts";

export type SendStop = PoolStep & { do: "send-stop" };
export type Launch = PoolStep & { do: "launch" };

export interface StepContext {
  world: World;
  deploying: Deploying;
  /** Hides the values of the instance's secrets in what it printed. */
  redact(instance: InstanceRow, text: string): Promise<string>;
  wakeups: Wakeups;
  /** Ends objects beside the loop, each once at a time: a slow engine must not hold up other agents. */
  destroy(instanceId: string, graceMs: number): void;
  /** The same for asking a session's bot to stop: one that does not answer must not hold up all others. */
  sendStop(step: SendStop): void;
  /** And for what pauses an instance or wakes it. */
  turn(instance: InstanceRow, to: "pause" | "wake"): void;
  /** Told what became of the voice filter in each session that is closed and had one. */
  filterDone?: ((filter: SessionFilter) => void) | undefined;
}

/** Does one step, or says that it takes longer; what is to be made is dealt among all agents instead. Whatever has changed since the plan was made makes it do nothing. */
export async function takeStep(
  step: Exclude<PoolStep, Launch>,
  view: PoolView,
  context: StepContext,
): Promise<"waiting" | void> {
  const { world } = context;
  const nowMs = world.clock.nowMs();
  switch (step.do) {
    case "request-instance":
      return requestInstance(step.deploymentId, view, world);
    case "mark-ready": {
      const { instance, address } = step;
      await asLeader(world, (tx) =>
        moveInstance(tx, instance, {
          to: "ready",
          cause: "the bot is loaded",
          nowMs,
          changes: { address, readyAt: nowMs },
        }),
      );
      context.wakeups.wake(instance.id);
      return context.wakeups.wake(capacityOf(view.agent));
    }
    case "drain": {
      const { instance, cause } = step;
      const crash = await shown(step.crash, instance, context);
      await asLeader(world, async (tx) => {
        if (!(await moveInstance(tx, instance, { to: "draining", cause, nowMs }))) return;
        if (crash) await countCrash(tx, instance, crash, world, nowMs);
      });
      return context.wakeups.wake(instance.id);
    }
    case "destroy":
      return context.destroy(step.instance.id, step.graceMs);
    case "mark-gone":
      await markGone(step.instance, step.cause, await shown(step.crash, step.instance, context), context);
      return context.wakeups.wake(capacityOf(view.agent));
    case "release":
      await asLeader(world, (tx) => compareAndSet(tx, "instances", step.instance, { sessionId: null }));
      return;
    case "pause":
    case "wake":
      return context.turn(step.instance, step.do);
    case "prepare-deployment":
      return prepare(step.deployment, context);
    case "activate-deployment":
      return activate(step.deployment, view, world);
    case "fail-deployment": {
      const { deployment, code, text } = step;
      await asLeader(world, (tx) =>
        moveDeployment(tx, deployment, {
          to: "Failed",
          nowMs,
          changes: { failureCode: code, failureText: text },
        }),
      );
      return;
    }
    case "retire-deployment":
      await asLeader(world, (tx) => moveDeployment(tx, step.deployment, { to: "Retired", nowMs }));
      return;
    case "expire-pending": {
      const { createdBefore } = step;
      const { id: agentId } = view.agent;
      await asLeader(world, (tx) =>
        expirePending(tx, { agentId, createdBefore, nowMs, reason: "never-connected" }),
      );
      return;
    }
    case "fail-session":
      await asLeader(world, (tx) => failSession(tx, step.session, { reason: step.reason, nowMs }));
      return;
    case "request-stop":
      await asLeader(world, (tx) =>
        moveSession(tx, step.session, {
          to: "stopping",
          changes: { stopRequestedAt: nowMs, stopReason: step.reason },
        }),
      );
      return;
    case "send-stop":
      return context.sendStop(step);
    case "close-session":
      return close(step.session, view, context);
    case "delete-agent":
      await deleteAgent(view, world);
      return forgetAgent(view, world);
    default:
      return step satisfies never;
  }
}

// Counted again inside the transaction: starts may have taken the capacity since the plan was made.
async function requestInstance(
  deploymentId: string,
  view: PoolView,
  world: World,
): Promise<"waiting" | void> {
  const { agent } = view;
  const nowMs = world.clock.nowMs();
  return asLeader(world, async (tx) => {
    const row = await world.store
      .forUpdate(tx.selectFrom("agents").selectAll().where("id", "=", agent.id))
      .executeTakeFirst();
    const { count } = await tx
      .selectFrom("instances")
      .select((is) => is.fn.countAll<number>().as("count"))
      .where("agentId", "=", agent.id)
      .where("state", "in", LIVE_INSTANCE_STATES)
      .executeTakeFirstOrThrow();
    if (row?.state !== "live" || count >= row.maxAgents) return "waiting";
    if (!(await mayHaveInstance({ ...world, tx }, agent.organizationId))) return "waiting";
    const { store, newId, epoch } = world;
    const mediaPort = await world.mediaPorts.take({ store, tx });
    if (mediaPort === "used-up") return "waiting";
    const instance = newInstanceRow({ agent, deploymentId, sessionId: null, mediaPort, newId, epoch, nowMs });
    await tx.insertInto("instances").values(instance).execute();
    return undefined;
  });
}

/** Has the driver make the object, and writes down that it was made, or that it cannot be. */
export async function launch({ instance }: Launch, context: StepContext): Promise<void> {
  const { world, deploying } = context;
  world.failpoint("instance.created.before");
  try {
    await world.driver.create(await deploying.specOf(instance));
  } catch (error) {
    if (error instanceof DriverUnavailableError) throw error; // no fault of the bot: asked again, and not counted
    const text = toInertLines(error instanceof Error ? error.message : String(error));
    const nowMs = world.clock.nowMs();
    await asLeader(world, async (tx) => {
      const moved = await moveInstance(tx, instance, {
        to: "draining",
        cause: "it could not be made",
        nowMs,
      });
      if (!moved) return;
      await countCrash(tx, instance, { exitCode: null, text }, world, nowMs); // counted, so that it is tried less often
      if (error instanceof SourceGoneError) await noteFailure(tx, instance, { code: error.code, text });
    });
    return context.wakeups.wake(instance.id);
  }
  world.failpoint("instance.created.after");
  if (instance.state !== "requested") return;
  const nowMs = world.clock.nowMs();
  await asLeader(world, async (tx) => {
    await moveInstance(tx, instance, { to: "starting", cause: "made", nowMs });
    await noteFailure(tx, instance, undefined);
  });
}

/** Of a deployment whose source is gone, or is there again. */
async function noteFailure(
  tx: Tx,
  { deploymentId }: InstanceRow,
  failure: { code: string; text: string } | undefined,
): Promise<void> {
  const noted = tx
    .updateTable("deployments")
    .set({ failureCode: failure?.code ?? null, failureText: failure?.text ?? null })
    .where("id", "=", deploymentId)
    .where("phase", "in", ["Validating", "Active"]);
  await (failure ? noted : noted.where("failureCode", "is not", null)).execute();
}

async function markGone(
  instance: InstanceRow,
  cause: string,
  crash: Crash | undefined,
  { world, wakeups }: StepContext,
): Promise<void> {
  const nowMs = world.clock.nowMs();
  world.failpoint("instance.recycled.before");
  await asLeader(world, async (tx) => {
    const changes = crash ? { exitCode: crash.exitCode } : {};
    if (!(await moveInstance(tx, instance, { to: "stopped", cause, nowMs, changes }))) return;
    if (crash) await countCrash(tx, instance, crash, world, nowMs);
  });
  world.failpoint("instance.recycled.after");
  wakeups.wake(instance.id);
}

// Kept for everybody who may look at the agent, and a bot prints what it likes.
async function shown(
  crash: Crash | undefined,
  instance: InstanceRow,
  { redact }: StepContext,
): Promise<Crash | undefined> {
  return crash && { ...crash, text: toInertLines(await redact(instance, crash.text)) };
}

async function countCrash(
  tx: Tx,
  instance: InstanceRow,
  crash: Crash,
  world: World,
  nowMs: number,
): Promise<void> {
  if (crash.isForeign) return noteDeath(tx, instance, crash);
  const row = await tx
    .selectFrom("deployments")
    .select(["crashes", "lastCrashAt"])
    .where("id", "=", instance.deploymentId)
    .executeTakeFirstOrThrow();
  const isFirst = row.lastCrashAt === null || nowMs - row.lastCrashAt > world.timing.crashResetMs;
  await tx
    .updateTable("deployments")
    .set({
      crashes: isFirst ? 1 : row.crashes + 1,
      lastCrashAt: nowMs,
      lastExitCode: crash.exitCode,
      crashText: crash.text,
    })
    .where("id", "=", instance.deploymentId)
    .execute();
  const { id: instanceId, deploymentId } = instance;
  world.log.warn(
    { instanceId, deploymentId, exitCode: crash.exitCode, how: firstLine(crash) },
    "instance crashed before it could serve",
  );
}

async function prepare(
  deployment: DeploymentRow,
  { world, deploying }: StepContext,
): Promise<"waiting" | void> {
  world.failpoint("deploy.validated.before");
  const preparation = await deploying.prepare(deployment);
  const nowMs = world.clock.nowMs();
  if (preparation?.state === "working") {
    await tellProgress(deployment, toInertLines(preparation.text), world);
    return "waiting";
  }
  await asLeader(world, (tx) =>
    preparation?.state === "refused"
      ? moveDeployment(tx, deployment, {
          to: "Failed",
          nowMs,
          changes: {
            failureCode: preparation.code,
            failureText: toInertLines(preparation.text),
            progressText: null,
          },
        })
      : moveDeployment(tx, deployment, {
          to: "Validating",
          nowMs,
          changes: { progressText: null, ...(preparation ? { spec: JSON.stringify(preparation.spec) } : {}) },
        }),
  );
  world.failpoint("deploy.validated.after");
}

// No state, so no new version.
async function tellProgress(deployment: DeploymentRow, text: string, world: World): Promise<void> {
  if (deployment.progressText === text) return;
  await asLeader(world, (tx) =>
    tx
      .updateTable("deployments")
      .set({ progressText: text, updatedAt: world.clock.nowMs() })
      .where("id", "=", deployment.id)
      .where("phase", "=", "Creating")
      .execute(),
  );
}

async function activate(deployment: DeploymentRow, view: PoolView, world: World): Promise<void> {
  const nowMs = world.clock.nowMs();
  world.failpoint("deploy.flipped.before");
  await asLeader(world, async (tx) => {
    const old = await tx
      .selectFrom("deployments")
      .selectAll()
      .where("agentId", "=", view.agent.id)
      .where("phase", "=", "Active")
      .execute();
    for (const row of old) await moveDeployment(tx, row, { to: "Draining", nowMs });
    if (!(await moveDeployment(tx, deployment, { to: "Active", nowMs })))
      throw new Error("The deployment changed before it could become active");
    await tx
      .updateTable("agents")
      .set({ reconciledDeploymentId: deployment.id, updatedAt: nowMs })
      .where("id", "=", view.agent.id)
      .execute();
  });
  world.failpoint("deploy.flipped.after");
  world.log.info({ agent: view.agent.name, deploymentId: deployment.id }, "deployment is active");
}

async function close(session: PoolSession, view: PoolView, context: StepContext): Promise<void> {
  const { world, wakeups } = context;
  const { instanceId } = session;
  const { status, heardAtMs = 0 } = (instanceId === null ? undefined : view.reports.get(instanceId)) ?? {};
  const told = status?.session?.sessionId === session.id ? status.session : undefined;
  const exit =
    told?.exit ?? (instanceId === null ? undefined : await world.records.exitRecord(instanceId, session.id));
  const alive = exit || instanceId === null ? undefined : await world.records.aliveRecord(instanceId);
  const death = exit ? undefined : await deathOf(session, view, context);
  const nowMs = world.clock.nowMs();
  const overAtMs = told?.exit ? heardAtMs : world.clock.monotonicMs();
  world.failpoint("close.committed.before");
  const closed = await asLeader(world, async (tx) => {
    const instance = await tx
      .selectFrom("instances")
      .selectAll()
      .where("id", "=", instanceId ?? "")
      .executeTakeFirst();
    const observed = observedLength(session, instance, { world, overAtMs, nowMs });
    if (instance && death) await noteDeath(tx, instance, death);
    return closeSession(tx, session, { exit: exit ?? undefined, alive, instance, observed, nowMs });
  });
  world.failpoint("close.committed.after");
  if (!closed) return;
  wakeups.wake(session.id);
  const filter = closedFilter(session, exit ?? alive);
  if (filter) context.filterDone?.(filter);
  const level = exit ? "info" : "warn";
  const how = death && firstLine(death);
  world.log[level]({ sessionId: session.id, reason: exit?.reason ?? "instance-lost", how }, "session closed");
  await tellCorrection(session.id, world);
}

/** What happened; what the bot printed comes after it. */
function firstLine({ text }: Crash): string {
  return text.split("\n", 1)[0] ?? "";
}

/** How a bot went that took its session with it; nothing of one that was told to go. */
async function deathOf(
  { instanceId, state }: PoolSession,
  view: PoolView,
  context: StepContext,
): Promise<Crash | undefined> {
  const instance = view.instances.find(({ id }) => id === instanceId);
  const seen = view.seen.get(instanceId ?? "");
  if (!instance || !seen?.exit || state === "stopping") return undefined;
  return shown(crashOf(seen), instance, context);
}

// For the agent's record. It is no crash of those that keep a deployment from serving: this one has served.
async function noteDeath(tx: Tx, { deploymentId }: InstanceRow, { exitCode, text }: Crash): Promise<void> {
  await tx
    .updateTable("deployments")
    .set({ lastExitCode: exitCode, crashText: text })
    .where("id", "=", deploymentId)
    .execute();
}

/** A controller that did not bind the session has only the stored times for how long it can have been at most. */
function observedLength(
  session: PoolSession,
  instance: InstanceRow | undefined,
  { world, overAtMs, nowMs }: { world: World; overAtMs: number; nowMs: number },
): Ending["observed"] {
  const atLeastMs = world.lastSeen.atLeastMs(session);
  const atMostMs = world.lastSeen.atMostMs(session.id, overAtMs);
  if (atMostMs !== null || session.boundAt === null) return { atLeastMs, atMostMs };
  const wasSetBack = (instance?.lastSeenAt ?? session.boundAt) > nowMs;
  return { atLeastMs, atMostMs: wasSetBack ? null : Math.max(nowMs - session.boundAt, atLeastMs ?? 0) };
}

async function tellCorrection(sessionId: string, { store, log }: World): Promise<void> {
  const row = await store.db
    .selectFrom("sessions")
    .select(["instanceId", "elapsedMs", "observedMs", "lengthCorrectionMs"])
    .where("id", "=", sessionId)
    .executeTakeFirst();
  if (row && row.lengthCorrectionMs !== null)
    log.warn({ sessionId, ...row }, "bot told another length of its session than was seen");
}

async function deleteAgent({ agent }: PoolView, world: World): Promise<void> {
  const nowMs = world.clock.nowMs();
  await asLeader(world, async (tx) => {
    const rows = await tx
      .selectFrom("deployments")
      .selectAll()
      .where("agentId", "=", agent.id)
      .where("phase", "in", ["Creating", "Validating", "Active", "Draining"])
      .execute();
    for (const row of rows) {
      if (row.phase === "Active") {
        await moveDeployment(tx, row, { to: "Draining", nowMs });
        await moveDeployment(
          tx,
          { ...row, phase: "Draining", version: row.version + 1 },
          { to: "Retired", nowMs },
        );
      } else
        await moveDeployment(tx, row, { to: row.phase === "Draining" ? "Retired" : "Superseded", nowMs });
    }
    await tx
      .updateTable("agents")
      .set({ state: "deleted", deletedAt: nowMs, updatedAt: nowMs, version: agent.version + 1 })
      .where("id", "=", agent.id)
      .where("state", "=", "deleting")
      .execute();
  });
}

// Beside the loop. What it cannot remove now, the driver finds again by itself.
function forgetAgent({ agent }: PoolView, { driver, log }: World): void {
  void driver
    .forgetAgent?.(agent.id)
    .catch((error: unknown) => log.warn({ err: error, agent: agent.name }, "objects of an agent were left"));
}
