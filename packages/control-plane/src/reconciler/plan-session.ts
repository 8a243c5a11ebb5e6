import type { PoolStep, PoolView } from "./plan-pool.ts";
import type { PoolSession } from "./read-pools.ts";

const HANG_UP_MS = 400;
const SLOW_CLOCK_MS = 5_000; // beyond the time at which every instance has ended its session by itself
const LATE_START_MS = 10_000; // beyond what a start may take; its own deadline should have ended it

/** Sessions whose sockets do not come are ended together. */
export function planPending({ agent, pending, nowMs, timing }: PoolView): PoolStep[] {
  if (pending.count === 0) return [];
  if (agent.state !== "live") return [{ do: "expire-pending", createdBefore: undefined }];
  const createdBefore = nowMs - timing.socketTokenMs;
  return pending.oldestAt < createdBefore ? [{ do: "expire-pending", createdBefore }] : [];
}

/** Plans the steps for one session. */
export function planSession(session: PoolSession, view: PoolView): PoolStep[] {
  switch (session.state) {
    case "starting":
      return planStarting(session, view);
    case "active":
    case "stopping":
      return planRunning(session, view);
    case "pending":
    case "ended":
    case "failed":
    case "expired":
      return [];
    default:
      return session.state satisfies never;
  }
}

function planStarting(session: PoolSession, view: PoolView): PoolStep[] {
  if (session.epoch !== view.epoch) return [{ do: "fail-session", session, reason: "controller-restarted" }];
  const limitMs = view.timing.startColdMs + view.timing.startWarmMs + LATE_START_MS;
  const isLate = (view.startingForMs.get(session.id) ?? 0) > limitMs;
  return isLate ? [{ do: "fail-session", session, reason: "start-timed-out" }] : [];
}

function planRunning(session: PoolSession, view: PoolView): PoolStep[] {
  const instance = view.instances.find(({ id }) => id === session.instanceId);
  const seen = session.instanceId === null ? undefined : view.seen.get(session.instanceId);
  const report = session.instanceId === null ? undefined : view.reports.get(session.instanceId);
  const told = report?.status.session?.sessionId === session.id ? report.status.session : undefined;
  if (told?.exit) return [{ do: "close-session", session }];
  // An instance that is gone may have left an exit record, which decides how the session ended.
  if (!instance || !seen || seen.state === "exited") return [{ do: "close-session", session }];
  if (session.state === "active") {
    // The bot's own clock, as long as it goes: the instance keeps the time by it too.
    const isOverdue = told !== undefined && told.elapsedMs >= session.maxDurationMs;
    const longestMs = session.maxDurationMs + (session.startMs ?? 0) + SLOW_CLOCK_MS;
    const isSeenOverdue = (view.lastedMs.get(session.id) ?? 0) >= longestMs;
    return isOverdue || isSeenOverdue ? [{ do: "request-stop", session, reason: "deadline" }] : [];
  }
  const isDeadline = session.stopReason === "deadline";
  // The instance ends its bot after the grace by itself. The controller only destroys one that did not.
  const graceMs = isDeadline ? view.timing.deadlineGraceMs : view.timing.stopGraceMs + HANG_UP_MS;
  if ((view.stoppingForMs.get(session.id) ?? 0) > graceMs) return [{ do: "destroy", instance, graceMs: 0 }];
  const address = instance.address ?? seen.address;
  if (address === undefined) return [];
  return [{ do: "send-stop", session, address, reason: isDeadline ? "deadline" : "stopped" }];
}
