import type { DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { PoolStep, PoolView } from "./plan-pool.ts";
import { isBackingOff } from "./plan-instance.ts";

const BUFFER_MAX = 10; // instances kept for demand alone; more would only starve the sessions that run

const FIRST_ALONE_MS = 2_000;

/** Plans how many instances there are: more for demand and for a new deployment, fewer after a quiet time. */
export function planSize(view: PoolView): PoolStep[] {
  if (view.agent.state !== "live") return [];
  const validating = view.deployments.find(({ phase }) => phase === "Validating");
  const active = view.deployments.find(({ phase }) => phase === "Active");
  const capacity = { left: placesLeft(view) };
  return [
    ...(validating ? planValidation(validating, view, capacity) : []),
    ...(active ? planActive(active, view, capacity, validating !== undefined) : []),
  ];
}

// A lowered quota ends no instance: an agent cannot know which one of several has too many.
function placesLeft({ agent, instances, organizationLeft }: PoolView): number {
  const left = agent.maxAgents - instances.length;
  return left < 0 ? left : Math.min(left, Math.max(0, organizationLeft));
}

interface Capacity {
  left: number;
}

function planValidation(deployment: DeploymentRow, view: PoolView, capacity: Capacity): PoolStep[] {
  if (isBackingOff(deployment, view)) return [];
  if (view.instances.some(({ deploymentId }) => deploymentId === deployment.id)) return [];
  if (capacity.left > 0) return request(deployment, 1, capacity);
  // The new one must prove itself inside the cap: an idle one of the old ones makes place.
  const idle = view.instances.find((row) => row.state === "ready" && row.sessionId === null);
  return idle ? [{ do: "drain", instance: idle, cause: "makes place for the new deployment" }] : [];
}

function planActive(
  deployment: DeploymentRow,
  view: PoolView,
  capacity: Capacity,
  isReplaced: boolean,
): PoolStep[] {
  const own = view.instances.filter(({ deploymentId }) => deploymentId === deployment.id);
  const free = own.filter(
    ({ state, sessionId }) => sessionId === null && state !== "draining" && state !== "busy",
  );
  if (capacity.left < 0) return drainSurplus(free, -capacity.left);
  const wanted = Math.max(view.agent.minAgents, Math.min(view.recentStarts, BUFFER_MAX));
  if (free.length < wanted) {
    if (isBackingOff(deployment, view)) return [];
    // The bot of a session that starts would have to share the machine with a new instance.
    if (isSomebodyStarting(view) && (free.length > 0 || isMakingTheFirst(view))) return [];
    const spare = Math.max(0, capacity.left - (isReplaced ? 1 : 0)); // one place is the new deployment's
    return request(deployment, Math.min(wanted - free.length, spare), capacity);
  }
  const idle = free.filter((row) => isIdleTooLong(row, view));
  return idle
    .slice(0, free.length - wanted)
    .map((instance) => ({ do: "drain", instance, cause: "idle for too long" }) as const);
}

function isSomebodyStarting({ sessions }: PoolView): boolean {
  return sessions.some(({ state }) => state === "starting");
}

// The first caller of a quiet agent, whose instance is being made. Where more come meanwhile, or it takes long, they are
// worth more than a quick start of that one.
function isMakingTheFirst({ sessions, instances, startingForMs }: PoolView): boolean {
  const [first, ...others] = sessions.filter(({ state }) => state === "starting");
  if (!first || others.length > 0) return false;
  const { state } = instances.find(({ id }) => id === first.instanceId) ?? {};
  const isBeingMade = state === "requested" || state === "starting";
  return isBeingMade && (startingForMs.get(first.id) ?? 0) < FIRST_ALONE_MS;
}

// Instances that are furthest from serving a session go first.
function drainSurplus(free: InstanceRow[], count: number): PoolStep[] {
  const cause = "the agent's maximum was lowered";
  return (["requested", "starting", "ready"] as const)
    .flatMap((wanted) => free.filter(({ state }) => state === wanted))
    .slice(0, count)
    .map((instance) => ({ do: "drain", instance, cause }) as const);
}

function request(deployment: DeploymentRow, count: number, capacity: Capacity): PoolStep[] {
  const granted = Math.max(0, Math.min(count, capacity.left));
  capacity.left -= granted;
  return Array.from(
    { length: granted },
    () => ({ do: "request-instance", deploymentId: deployment.id }) as const,
  );
}

function isIdleTooLong(row: InstanceRow, view: PoolView): boolean {
  return row.state === "ready" && view.nowMs - row.stateAt >= view.timing.idleInstanceMs;
}
