import type { InstanceRow } from "@vocalhost/store/schema";
import { closeSession, type Ending } from "../sessions/close-session.ts";
import { closedFilter } from "../sessions/filter-facts.ts";
import type { World } from "../sessions/world.ts";
import { firstLine, noteDeath, showCrash } from "./instance-steps.ts";
import { crashOf } from "./plan-instance.ts";
import type { Crash, PoolStep, PoolView } from "./plan-pool.ts";
import type { PoolSession } from "./read-pools.ts";
import type { StepContext, StepWrite } from "./take-step.ts";

/** Closes a session by what its instance reported or left behind. */
export async function closing(
  { session }: PoolStep & { do: "close-session" },
  view: PoolView,
  context: StepContext,
): Promise<StepWrite<boolean>> {
  const { world } = context;
  const { exit, alive, overAtMs } = await recordsOf(session, view, world);
  const death = exit ? undefined : await deathOf(session, view, context);
  const nowMs = world.clock.nowMs();
  return {
    failpoint: "close.committed",
    async write(tx) {
      const instance = await tx
        .selectFrom("instances")
        .selectAll()
        .where("id", "=", session.instanceId ?? "")
        .executeTakeFirst();
      const observed = observedLength(session, instance, { world, overAtMs, nowMs });
      if (instance && death) await noteDeath(tx, instance, death);
      return closeSession(tx, session, { exit, alive, instance, observed, nowMs });
    },
    async committed(isClosed) {
      if (!isClosed) return;
      const { id: sessionId } = session;
      context.wakeups.wake(sessionId);
      const filter = closedFilter(session, exit ?? alive);
      if (filter) context.filterDone?.(filter);
      const about = { sessionId, reason: exit?.reason ?? "instance-lost", how: death && firstLine(death) };
      world.log[exit ? "info" : "warn"](about, "session closed");
      await tellCorrection(sessionId, world);
    },
  };
}

/** Returns the records of a session's end, and when it was over on our monotonic clock. */
async function recordsOf(
  { id, instanceId }: PoolSession,
  { reports }: PoolView,
  { records, clock }: World,
): Promise<Pick<Ending, "exit" | "alive"> & { overAtMs: number }> {
  if (instanceId === null) return { exit: undefined, alive: undefined, overAtMs: clock.monotonicMs() };
  const report = reports.get(instanceId);
  const told = report?.status.session;
  if (report && told?.sessionId === id && told.exit)
    return { exit: told.exit, alive: undefined, overAtMs: report.heardAtMs };
  const exit = await records.exitRecord(instanceId, id);
  const alive = exit ? undefined : await records.aliveRecord(instanceId);
  return { exit, alive, overAtMs: clock.monotonicMs() };
}

/** Returns how the bot of a session died; undefined for one that was told to stop. */
async function deathOf(
  { instanceId, state }: PoolSession,
  view: PoolView,
  context: StepContext,
): Promise<Crash | undefined> {
  const instance = view.instances.find(({ id }) => id === instanceId);
  const seen = view.seen.get(instanceId ?? "");
  if (!instance || !seen?.exit || state === "stopping") return undefined;
  return showCrash(crashOf(seen), instance, context);
}

/** A controller that did not bind the session knows only from stored times how long it can have been at most. */
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
