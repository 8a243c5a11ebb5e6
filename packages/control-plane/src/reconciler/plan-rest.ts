import type { InstanceRow } from "@vocalhost/store/schema";
import type { PoolStep, PoolView } from "./plan-pool.ts";

/**
 * Which instances rest while they wait. Those that will be claimed first stay awake, so that few calls wait for one to
 * wake; and one for each session whose client is on its way.
 */
export function planRest(view: PoolView): PoolStep[] {
  const waiting = view.instances
    .filter(({ state, sessionId }) => state === "ready" && sessionId === null)
    .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)); // as they are claimed
  const { keptAwake, pending } = view;
  const resting = new Set(keptAwake === undefined ? [] : waiting.slice(keptAwake + pending.count));
  return view.instances.flatMap((instance): PoolStep[] => {
    const seen = view.seen.get(instance.id);
    if (seen?.state !== "running" || instance.state === "draining") return [];
    const isPaused = seen.isPaused ?? false;
    if (isPaused && !resting.has(instance)) return [{ do: "wake", instance }];
    return !isPaused && resting.has(instance) && hasSettled(instance, view)
      ? [{ do: "pause", instance }]
      : [];
  });
}

// Bots go on loading for a while after they are ready.
function hasSettled({ stateAt }: InstanceRow, { nowMs, timing }: PoolView): boolean {
  return nowMs - stateAt >= timing.pauseAfterMs;
}
