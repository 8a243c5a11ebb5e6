import type { InstanceReport } from "../pools/instances/instance-network.ts";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { AgentRow, DeploymentRow, InstanceRow } from "@vocalhost/store/schema";
import type { Timing } from "@vocalhost/base/timing";
import { planInstance } from "./plan-instance.ts";
import type { PendingSessions, PoolSession } from "./read-pools.ts";
import { planRest } from "./plan-rest.ts";
import { planRollout } from "./plan-rollout.ts";
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
