import type { DeploymentRow, InstanceRow } from "../store/schema.ts";
import type { PoolStep, PoolView } from "./plan-pool.ts";
import { isBackingOff } from "./plan-instance.ts";

const BUFFER_MAX = 10; // instances kept for demand alone; more would only starve the sessions that run

/** How many instances there should be: more for demand and for a new deployment, fewer after a quiet time. */
export function planSize(view: PoolView): PoolStep[] {
  if (view.agent.state !== "live") return [];
  const validating = view.deployments.find(({ phase }) => phase === "Validating");
  const active = view.deployments.find(({ phase }) => phase === "Active");
  const room = { left: view.agent.maxAgents - view.instances.length };
  return [
    ...(validating ? planValidation(validating, view, room) : []),
    ...(active ? planActive(active, view, room, validating !== undefined) : []),
  ];
}

interface Room {
  left: number;
}

function planValidation(deployment: DeploymentRow, view: PoolView, room: Room): PoolStep[] {
  if (isBackingOff(deployment, view)) return [];
  if (view.instances.some(({ deploymentId }) => deploymentId === deployment.id)) return [];
  if (room.left > 0) return request(deployment, 1, room);
  // The new one must prove itself inside the cap: an idle one of the old ones makes place.
  const idle = view.instances.find((row) => row.state === "ready" && row.sessionId === null);
  return idle ? [{ do: "drain", instance: idle, cause: "makes place for the new deployment" }] : [];
}

function planActive(deployment: DeploymentRow, view: PoolView, room: Room, isReplaced: boolean): PoolStep[] {
  const own = view.instances.filter(({ deploymentId }) => deploymentId === deployment.id);
  const free = own.filter(
    ({ state, sessionId }) => sessionId === null && state !== "draining" && state !== "busy",
  );
  const wanted = Math.max(view.agent.minAgents, Math.min(view.recentStarts, BUFFER_MAX));
  if (free.length < wanted) {
    if (isBackingOff(deployment, view)) return [];
    if (free.length > 0 && isSomebodyStarting(view)) return []; // whose bot would have to share the machine with it
    const spare = Math.max(0, room.left - (isReplaced ? 1 : 0)); // one place is the new deployment's
    return request(deployment, Math.min(wanted - free.length, spare), room);
  }
  if (room.left < 0) return drainIdle(free, -room.left, "the agent's maximum was lowered");
  const idle = free.filter((row) => isIdleTooLong(row, view));
  return drainIdle(idle, Math.min(free.length - wanted, idle.length), "idle for too long");
}

function isSomebodyStarting({ sessions }: PoolView): boolean {
  return sessions.some(({ state }) => state === "starting");
}

function drainIdle(candidates: InstanceRow[], count: number, cause: string): PoolStep[] {
  return candidates
    .filter(({ state }) => state === "ready")
    .slice(0, count)
    .map((instance) => ({ do: "drain", instance, cause }) as const);
}

function request(deployment: DeploymentRow, count: number, room: Room): PoolStep[] {
  const granted = Math.max(0, Math.min(count, room.left));
  room.left -= granted;
  return Array.from(
    { length: granted },
    () => ({ do: "request-instance", deploymentId: deployment.id }) as const,
  );
}

function isIdleTooLong(row: InstanceRow, view: PoolView): boolean {
  return row.state === "ready" && view.nowMs - row.stateAt >= view.timing.idleInstanceMs;
}
