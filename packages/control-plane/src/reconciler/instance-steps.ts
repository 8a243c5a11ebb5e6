import { toInertLines } from "@vocalhost/base/inert-text";
import { DriverUnavailableError, SourceGoneError } from "@vocalhost/drivers/driver";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { InstanceRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import { mayHaveInstance } from "../identity/quotas/require-quota.ts";
import { newInstanceRow } from "../pools/claim.ts";
import { LIVE_INSTANCE_STATES, moveInstance } from "../pools/instance-state.ts";
import { capacityOf } from "../pools/wakeups.ts";
import type { World } from "../sessions/world.ts";
import type { Crash, PoolStep, PoolView } from "./plan-pool.ts";
import type { Launch, StepContext, StepWrite } from "./take-step.ts";

/** Counts the capacity again in its transaction: starts may have taken it since the plan was made. */
export function requestedInstance(
  { deploymentId }: PoolStep & { do: "request-instance" },
  view: PoolView,
  { world }: StepContext,
): StepWrite {
  const { agent } = view;
  const { store, newId, epoch } = world;
  const nowMs = world.clock.nowMs();
  return {
    async write(tx) {
      const locked = tx.selectFrom("agents").selectAll().where("id", "=", agent.id);
      const row = await store.forUpdate(locked).executeTakeFirst();
      const { count } = await tx
        .selectFrom("instances")
        .select((is) => is.fn.countAll<number>().as("count"))
        .where("agentId", "=", agent.id)
        .where("state", "in", LIVE_INSTANCE_STATES)
        .executeTakeFirstOrThrow();
      if (row?.state !== "live" || count >= row.maxAgents) return "waiting";
      if (!(await mayHaveInstance({ ...world, tx }, agent.organizationId))) return "waiting";
      const mediaPort = await world.mediaPorts.take({ store, tx });
      if (mediaPort === "used-up") return "waiting";
      const instance = { agent, deploymentId, sessionId: null, mediaPort, newId, epoch, nowMs };
      await tx.insertInto("instances").values(newInstanceRow(instance)).execute();
      return undefined;
    },
  };
}

export function readiness(
  { instance, address }: PoolStep & { do: "mark-ready" },
  { agent }: PoolView,
  { world, wakeups }: StepContext,
): StepWrite {
  const nowMs = world.clock.nowMs();
  const changes = { address, readyAt: nowMs };
  return {
    write: (tx) => moveInstance(tx, instance, { to: "ready", cause: "the bot is loaded", nowMs, changes }),
    committed() {
      wakeups.wake(instance.id);
      wakeups.wake(capacityOf(agent));
    },
  };
}

export async function draining(
  { instance, cause, crash }: PoolStep & { do: "drain" },
  context: StepContext,
): Promise<StepWrite> {
  const { world, wakeups } = context;
  const shown = crash && (await showCrash(crash, instance, context));
  const nowMs = world.clock.nowMs();
  return {
    async write(tx) {
      if (!(await moveInstance(tx, instance, { to: "draining", cause, nowMs }))) return;
      if (shown) await countCrash(tx, instance, { crash: shown, world, nowMs });
    },
    committed: () => wakeups.wake(instance.id),
  };
}

export async function gone(
  { instance, cause, crash }: PoolStep & { do: "mark-gone" },
  { agent }: PoolView,
  context: StepContext,
): Promise<StepWrite> {
  const { world, wakeups } = context;
  const shown = crash && (await showCrash(crash, instance, context));
  const nowMs = world.clock.nowMs();
  const changes = shown ? { exitCode: shown.exitCode } : {};
  return {
    failpoint: "instance.recycled",
    async write(tx) {
      if (!(await moveInstance(tx, instance, { to: "stopped", cause, nowMs, changes }))) return;
      if (shown) await countCrash(tx, instance, { crash: shown, world, nowMs });
    },
    committed() {
      wakeups.wake(instance.id);
      wakeups.wake(capacityOf(agent));
    },
  };
}

/** Has the driver make the instance's object, and writes down that it was made or cannot be made. */
export async function launch(
  { instance }: Launch,
  { world, deploying, wakeups }: StepContext,
): Promise<void> {
  world.failpoint("instance.created.before");
  try {
    await world.driver.create(await deploying.specOf(instance));
  } catch (error) {
    if (error instanceof DriverUnavailableError) throw error; // not the bot's fault: tried again, and not counted
    const nowMs = world.clock.nowMs();
    await asLeader(world, (tx) => noteUnmade(tx, instance, { error, world, nowMs }));
    return wakeups.wake(instance.id);
  }
  world.failpoint("instance.created.after");
  if (instance.state !== "requested") return;
  const nowMs = world.clock.nowMs();
  await asLeader(world, async (tx) => {
    await moveInstance(tx, instance, { to: "starting", cause: "made", nowMs });
    await noteFailure(tx, instance, undefined);
  });
}

async function noteUnmade(
  tx: Tx,
  instance: InstanceRow,
  { error, world, nowMs }: { error: unknown; world: World; nowMs: number },
): Promise<void> {
  const text = toInertLines(error instanceof Error ? error.message : String(error));
  const move = { to: "draining", cause: "it could not be made", nowMs } as const;
  if (!(await moveInstance(tx, instance, move))) return;
  const crash = { exitCode: null, text };
  await countCrash(tx, instance, { crash, world, nowMs }); // so that it is tried less and less often
  if (error instanceof SourceGoneError) await noteFailure(tx, instance, { code: error.code, text });
}

/** Writes down that the source of a deployment is gone, or is there again. */
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

/** Makes safe to store and to show what a bot printed before it crashed. */
export async function showCrash(
  crash: Crash,
  instance: InstanceRow,
  { redact }: Pick<StepContext, "redact">,
): Promise<Crash> {
  return { ...crash, text: toInertLines(await redact(instance, crash.text)) };
}

interface CountedCrash {
  crash: Crash;
  world: Pick<World, "timing" | "log">;
  nowMs: number;
}

async function countCrash(
  tx: Tx,
  instance: InstanceRow,
  { crash, world, nowMs }: CountedCrash,
): Promise<void> {
  if (crash.isForeign) return noteDeath(tx, instance, crash);
  const { id: instanceId, deploymentId } = instance;
  const row = await tx
    .selectFrom("deployments")
    .select(["crashes", "lastCrashAt"])
    .where("id", "=", deploymentId)
    .executeTakeFirstOrThrow();
  const isFirst = row.lastCrashAt === null || nowMs - row.lastCrashAt > world.timing.crashResetMs;
  const { exitCode, text: crashText } = crash;
  await tx
    .updateTable("deployments")
    .set({ crashes: isFirst ? 1 : row.crashes + 1, lastCrashAt: nowMs, lastExitCode: exitCode, crashText })
    .where("id", "=", deploymentId)
    .execute();
  const about = { instanceId, deploymentId, exitCode, how: firstLine(crash) };
  world.log.warn(about, "instance crashed before it could serve");
}

/** Writes down how an instance died, for the agent's record. It does not count against the deployment. */
export async function noteDeath(
  tx: Tx,
  { deploymentId }: InstanceRow,
  { exitCode, text }: Crash,
): Promise<void> {
  await tx
    .updateTable("deployments")
    .set({ lastExitCode: exitCode, crashText: text })
    .where("id", "=", deploymentId)
    .execute();
}

/** Says what happened; the lines behind it are what the bot printed. */
export function firstLine({ text }: Crash): string {
  return text.split("\n", 1)[0] ?? "";
}
