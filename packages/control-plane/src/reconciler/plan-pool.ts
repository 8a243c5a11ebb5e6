import type { InstanceReport } from "../pools/instances/instance-network.ts";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { AgentRow, DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Timing } from "@vocalhost/base/timing";
import { planInstance } from "./plan-instance.ts";
import type { PendingSessions, PoolSession } from "./read-pools.ts";
import { planPending, planSession } from "./plan-session.ts";
import { planSize } from "./plan-size.ts";

/** One agent: its rows, then what drivers and instances reported after they were read. */
export interface PoolView {
  agent: AgentRow;
  /** Deployments that are Creating, Validating, Active or Draining. */
  deployments: DeploymentRow[];
  /** Instances that are not stopped or lost. */
  instances: InstanceRow[];
  /** Sessions that hold an instance, and those that an instance above still names. */
  sessions: PoolSession[];
  pending: PendingSessions;
  /** How many instances the organisation may have besides those it has; less than none when its quota was lowered. */
  organizationLeft: number;
  /** How many sessions were bound within `demandMs`. */
  recentStarts: number;
  seen: ReadonlyMap<string, SeenInstance>;
  reports: ReadonlyMap<string, InstanceReport>;
  /** Instances that the driver is making at this moment. */
  beingMade: ReadonlySet<string>;
  /** Heartbeats in a row that instances have missed; those that miss none are left out. */
  missed: ReadonlyMap<string, number>;
  /** How long each open session has been asked to stop, on our monotonic clock. */
  stoppingForMs: ReadonlyMap<string, number>;
  /** The same of instances and sessions that are on their way up. */
  startingForMs: ReadonlyMap<string, number>;
  /** How long sessions have lasted at least, as we saw it. */
  lastedMs: ReadonlyMap<string, number>;
  nowMs: number;
  epoch: number;
  timing: Timing;
  /** How many instances may be on their way up at once. */
  bootsAtOnce: number;
  /** How many waiting instances stay awake; the others are paused. Undefined if none is. */
  keptAwake: number | undefined;
}

export type PoolStep =
  | { do: "request-instance"; deploymentId: string }
  | { do: "launch"; instance: InstanceRow }
  | { do: "mark-ready"; instance: InstanceRow; address: string }
  | { do: "drain"; instance: InstanceRow; cause: string; crash?: Crash }
  | { do: "destroy"; instance: InstanceRow; graceMs: number }
  | { do: "mark-gone"; instance: InstanceRow; cause: string; crash?: Crash }
  | { do: "release"; instance: InstanceRow }
  | { do: "pause"; instance: InstanceRow }
  | { do: "wake"; instance: InstanceRow }
  | { do: "prepare-deployment"; deployment: DeploymentRow }
  | { do: "activate-deployment"; deployment: DeploymentRow }
  | { do: "fail-deployment"; deployment: DeploymentRow; code: string; text: string }
  | { do: "retire-deployment"; deployment: DeploymentRow }
  | { do: "expire-pending"; createdBefore: number | undefined }
  | { do: "fail-session"; session: PoolSession; reason: string }
  | { do: "request-stop"; session: PoolSession; reason: string }
  | { do: "send-stop"; session: PoolSession; address: string; reason: "stopped" | "deadline" }
  | { do: "close-session"; session: PoolSession }
  | { do: "delete-agent"; agent: AgentRow };

export interface Crash {
  exitCode: number | null;
  text: string;
  /** Not the deployment's fault: recorded, but not counted against it. */
  isForeign?: boolean;
}

/** Plans the next steps for one agent. Pure: the same view gives the same steps. */
export function planPool(view: PoolView): PoolStep[] {
  return [
    ...planPending(view),
    ...view.sessions.flatMap((session) => planSession(session, view)),
    ...view.instances.flatMap((instance) => planInstance(instance, view)),
    ...planRest(view),
    ...planRollout(view),
    ...planSize(view),
    ...planDeletion(view),
  ];
}

/** Plans for an agent whose instances cannot be listed: uses only the rows and what the instances report themselves. */
export function planUnseen(view: PoolView): PoolStep[] {
  const running = view.instances.map(({ id, address }): [string, SeenInstance] => [
    id,
    { id, state: "running", address: address ?? undefined, exit: undefined },
  ]);
  const assumed = { ...view, seen: new Map(running) };
  const hasTold = ({ id, instanceId }: PoolSession): boolean => {
    const told = view.reports.get(instanceId ?? "")?.status.session;
    return told?.sessionId === id && told.exit !== null;
  };
  return [
    ...planPending(view),
    ...view.sessions
      .flatMap((session) => planSession(session, assumed))
      .filter((step) => step.do !== "destroy" && (step.do !== "close-session" || hasTold(step.session))),
  ];
}

function planDeletion({ agent, sessions, pending, instances }: PoolView): PoolStep[] {
  const isEmpty = sessions.length === 0 && pending.count === 0 && instances.length === 0;
  const isOver = agent.state === "deleting" && isEmpty;
  return isOver ? [{ do: "delete-agent", agent }] : [];
}

/**
 * Plans which waiting instances are paused. Instances that will be claimed first stay awake, and one more for each
 * session whose client is on its way, so that few calls wait for an instance to wake.
 */
function planRest(view: PoolView): PoolStep[] {
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

/** Plans how the deployments of an agent move on: the new one proves itself before the old one drains. */
function planRollout(view: PoolView): PoolStep[] {
  return view.deployments.flatMap((deployment) => planDeployment(deployment, view));
}

function planDeployment(deployment: DeploymentRow, view: PoolView): PoolStep[] {
  const own = view.instances.filter(({ deploymentId }) => deploymentId === deployment.id);
  switch (deployment.phase) {
    case "Creating":
      return view.agent.state === "live" ? [{ do: "prepare-deployment", deployment }] : [];
    case "Validating":
      if (deployment.failureCode !== null) return [failed(deployment)];
      if (deployment.crashes >= view.timing.crashesToFail) return [failed(deployment)];
      return own.some(({ state }) => state === "ready") ? [{ do: "activate-deployment", deployment }] : [];
    case "Draining":
      return own.length === 0 ? [{ do: "retire-deployment", deployment }] : [];
    case "Active":
    case "Retired":
    case "Failed":
    case "Superseded":
      return [];
    default:
      return deployment.phase satisfies never;
  }
}

function failed(deployment: DeploymentRow): PoolStep {
  const { crashes, crashText, failureCode, failureText } = deployment;
  if (failureCode !== null)
    return { do: "fail-deployment", deployment, code: failureCode, text: failureText ?? failureCode };
  return {
    do: "fail-deployment",
    deployment,
    code: "UNKNOWN_ERROR",
    text: `The bot crashed ${crashes} times before it was ready: ${reasonIn(crashText ?? "")}`,
  };
}

const REASON_MAX_CHARACTERS = 300;

/** Returns the error out of everything that was printed around it, otherwise how the process ended. */
function reasonIn(crashText: string): string {
  const [ending = "", ...output] = crashText.split("\n");
  const error = output.findLast((line) => /^(?:Uncaught )?\w*(?:Error|Exception)\b/.test(line));
  return (error ?? ending).trim().slice(0, REASON_MAX_CHARACTERS);
}
