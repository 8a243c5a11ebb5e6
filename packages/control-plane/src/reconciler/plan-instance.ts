import type { InstanceExit, SeenInstance } from "@vocalhost/drivers/driver";
import { isTerminal } from "../sessions/session-state.ts";
import type { DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Crash, PoolStep, PoolView } from "./plan-pool.ts";

/** An instance that hardly gets the processor may boot this many times as long. Callers have given up by then. */
const STARVED_MAX = 10;

/** Plans the steps for one instance, from its row and what was seen after the row was read. */
export function planInstance(instance: InstanceRow, view: PoolView): PoolStep[] {
  // Whether it is there is known when it is made; until then neither its place nor its port may be given to another.
  if (view.beingMade.has(instance.id)) return [];
  const seen = view.seen.get(instance.id);
  switch (instance.state) {
    case "requested":
      return planRequested(instance, view);
    case "starting":
      return planStarting(instance, seen, view);
    case "ready":
      return planReady(instance, seen, view);
    case "busy":
      return planBusy(instance, seen, view);
    case "draining":
      return planDraining(instance, seen, view);
    case "stopped":
    case "lost":
      return [];
    default:
      return instance.state satisfies never;
  }
}

/** Whether a deployment that has crashed must wait before it boots again. */
export function isBackingOff(
  { crashes, lastCrashAt }: DeploymentRow,
  { nowMs, timing }: Pick<PoolView, "nowMs" | "timing">,
): boolean {
  if (lastCrashAt === null || crashes === 0 || lastCrashAt > nowMs) return false; // later than now: the clock was set
  const steps = timing.crashBackoffMs;
  return lastCrashAt + (steps[Math.min(crashes, steps.length - 1)] ?? 0) > nowMs;
}

function planRequested(instance: InstanceRow, view: PoolView): PoolStep[] {
  if (!isWanted(instance, view)) return [{ do: "drain", instance, cause: "no longer wanted" }];
  const stale = staleReservation(instance, view);
  if (stale) return [stale];
  const deployment = deploymentOf(instance, view);
  if (!deployment || isBackingOff(deployment, view) || isSurplus(instance, view)) return [];
  return isNextToBoot(instance, view) ? [{ do: "launch", instance }] : [];
}

function planStarting(instance: InstanceRow, seen: SeenInstance | undefined, view: PoolView): PoolStep[] {
  if (!seen) return [{ do: "launch", instance }]; // recorded, but the order to make it was lost
  if (seen.state === "exited")
    return [{ do: "mark-gone", instance, cause: "ended before it was ready", crash: crashOf(seen) }];
  if (!isWanted(instance, view)) return [{ do: "drain", instance, cause: "no longer wanted" }];
  const stale = staleReservation(instance, view);
  if (stale) return [stale];
  const isReady = view.reports.get(instance.id)?.status.ready === true;
  if (isReady && seen.address) return [{ do: "mark-ready", instance, address: seen.address }];
  const { startColdMs } = view.timing;
  const forMs = view.startingForMs.get(instance.id) ?? 0;
  const hasHadItsTime = forMs - (seen.starvedMs ?? 0) >= startColdMs;
  const longestMs = hasHadItsTime ? startColdMs : startColdMs * STARVED_MAX;
  if (forMs < longestMs) return [];
  const late = `The bot was not ready within ${Math.round(longestMs / 1000)} s.`;
  const waitsFor = seen.waitsFor ?? (hasHadItsTime ? undefined : "The machine had no time for it.");
  const text = waitsFor === undefined ? late : `${late} ${waitsFor}`;
  const crash = { exitCode: null, text, ...(waitsFor === undefined ? {} : { isForeign: true }) };
  return [{ do: "drain", instance, cause: late, crash }];
}

function planReady(instance: InstanceRow, seen: SeenInstance | undefined, view: PoolView): PoolStep[] {
  const gone = goneStep(instance, seen);
  if (gone) return [gone];
  if (!isWanted(instance, view)) return [{ do: "drain", instance, cause: "its deployment was replaced" }];
  const stale = staleReservation(instance, view);
  if (stale) return [stale];
  return isFrozen(instance, view) ? [{ do: "drain", instance, cause: "it no longer answers" }] : [];
}

function planBusy(instance: InstanceRow, seen: SeenInstance | undefined, view: PoolView): PoolStep[] {
  const session = view.sessions.find(({ id }) => id === instance.sessionId);
  if (!session || isTerminal(session.state)) return [{ do: "drain", instance, cause: "its session is over" }];
  const isGone = !seen || seen.state === "exited";
  if (!isGone && isFrozen(instance, view)) return [{ do: "destroy", instance, graceMs: 0 }];
  return []; // a session whose instance is gone is closed first, see `planSession`
}

function planDraining(instance: InstanceRow, seen: SeenInstance | undefined, view: PoolView): PoolStep[] {
  if (!seen || seen.state === "exited") return [{ do: "mark-gone", instance, cause: instance.cause }];
  return [{ do: "destroy", instance, graceMs: view.timing.stopGraceMs }];
}

function goneStep(instance: InstanceRow, seen: SeenInstance | undefined): PoolStep | undefined {
  if (seen && seen.state === "running") return undefined;
  // An idle instance that ends by itself was alone for too long; anything else is a crash.
  const hasCrashed = seen?.exit !== undefined && seen.exit.code !== 0;
  return {
    do: "mark-gone",
    instance,
    cause: "ended while idle",
    ...(hasCrashed ? { crash: crashOf(seen) } : {}),
  };
}

/** Reserved for a session that will not come any more. */
function staleReservation(instance: InstanceRow, view: PoolView): PoolStep | undefined {
  if (instance.sessionId === null) return undefined;
  const session = view.sessions.find(({ id }) => id === instance.sessionId);
  return !session || isTerminal(session.state) ? { do: "release", instance } : undefined;
}

function isWanted(instance: InstanceRow, view: PoolView): boolean {
  if (view.agent.state !== "live") return isReservedByOpenSession(instance, view);
  const phase = deploymentOf(instance, view)?.phase;
  return phase === "Active" || phase === "Validating" || isReservedByOpenSession(instance, view);
}

function isReservedByOpenSession(instance: InstanceRow, view: PoolView): boolean {
  return view.sessions.some(({ id, state }) => id === instance.sessionId && !isTerminal(state));
}

/** The maximum was lowered after it was asked for; `planSize` takes it back. */
function isSurplus({ sessionId }: InstanceRow, { instances, agent }: PoolView): boolean {
  return sessionId === null && instances.length > agent.maxAgents;
}

// Reserved ones first, since sessions wait for them.
function isNextToBoot(instance: InstanceRow, view: PoolView): boolean {
  const booting = view.instances.filter(({ state }) => state === "starting").length;
  const queue = view.instances
    .filter(({ state }) => state === "requested")
    .sort((a, b) => Number(b.sessionId !== null) - Number(a.sessionId !== null) || a.createdAt - b.createdAt);
  return queue.indexOf(instance) < view.bootsAtOnce - booting;
}

function isFrozen({ id }: InstanceRow, { missed, timing }: PoolView): boolean {
  return (missed.get(id) ?? 0) >= timing.heartbeatsMissed;
}

function deploymentOf(instance: InstanceRow, view: PoolView): DeploymentRow | undefined {
  return view.deployments.find(({ id }) => id === instance.deploymentId);
}

const ABORTED_EXIT_CODE = 134; // SIGABRT, as engines and clusters report it
const OUT_OF_MEMORY_EXIT_CODE = 137; // as engines and clusters report it

// V8 ends a program whose heap has reached its limit, before the kernel would.
function isHeapFull({ code, signal, lastOutput }: InstanceExit): boolean {
  return (
    (signal === "SIGABRT" || code === ABORTED_EXIT_CODE) &&
    lastOutput.includes("JavaScript heap out of memory")
  );
}

/** Describes how an instance ended that was not told to. */
export function crashOf(seen: SeenInstance | undefined): Crash {
  const exit = seen?.exit;
  const isOutOfMemory = exit !== undefined && (exit.outOfMemory || isHeapFull(exit));
  const how = isOutOfMemory
    ? "It ran out of memory."
    : exit?.how !== undefined
      ? exit.how
      : exit?.signal
        ? `It was ended by ${exit.signal}.`
        : `It exited with code ${exit?.code ?? "unknown"}.`;
  const exitCode = exit?.code ?? (isOutOfMemory ? OUT_OF_MEMORY_EXIT_CODE : null);
  const text = [how, exit?.lastOutput.trim()].filter(Boolean).join("\n");
  return { exitCode, text, ...(exit?.isForeign ? { isForeign: true } : {}) };
}
